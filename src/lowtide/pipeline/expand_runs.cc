// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/expand_runs.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/graph/builder.h"

namespace lowtide::pipeline_internal {
namespace {

class Expansion {
 public:
  Expansion(const Graph& graph, const AliasClasses& aliases)
      : graph_(graph),
        aliases_(aliases),
        builder_(graph.name()),
        latest_(graph.tensors().size()),
        read_by_(graph.nodes().size()),
        first_(graph.nodes().size()) {
    for (const Tensor& tensor : graph.tensors()) names_.insert(tensor.name);
  }

  Result<ExpandedGraph> make(const std::vector<NodeId>& runs) && {
    add_sources();
    run_ready_views(all_ids_of_nodes());
    for (NodeId node : runs) {
      refresh(graph_.operands(node));
      const bool is_first = !first_[node];
      run(node);
      if (is_first) run_ready_views(readers_of(node));
    }
    set_results();
    return finish();
  }

 private:
  [[nodiscard]] bool is_view(NodeId node) const { return aliases_.step_kinds[node] == StepKind::alias; }

  [[nodiscard]] std::vector<NodeId> all_ids_of_nodes() const {
    std::vector<NodeId> nodes;
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) nodes.push_back(id);
    return nodes;
  }

  [[nodiscard]] std::vector<NodeId> readers_of(NodeId node) const {
    std::vector<NodeId> readers;
    for (const std::optional<TensorId>& output : graph_.node(node).outputs) {
      if (output) readers.insert(readers.end(), graph_.readers(*output).begin(), graph_.readers(*output).end());
    }
    return readers;
  }

  void add_tensor(TensorId tensor, Role role) {
    const Tensor& of = graph_.tensor(tensor);
    const std::optional<ConstantId> constant = role == Role::constant ? of.constant : std::nullopt;
    std::string name = latest_[tensor] ? new_name(of.name) : of.name;
    const TensorId made = builder_.add_tensor({std::move(name), of.dtype, of.shape, of.is_captured, constant}, role);
    if (const auto* content = graph_.known_integers(tensor)) builder_.set_known_integers(made, *content);
    latest_[tensor] = made;
    tensor_of_.push_back(tensor);
  }

  std::string new_name(const std::string& name) {
    for (;;) {
      std::string made = name + "." + std::to_string(++renamed_);
      if (names_.insert(made).second) return made;
    }
  }

  // Inputs, constants and states, in the order of their ids.
  void add_sources() {
    for (TensorId tensor : all_ids<TensorId>(graph_.tensors().size())) {
      if (!graph_.tensor(tensor).producer) add_tensor(tensor, graph_.tensor(tensor).role);
    }
  }

  // Runs all views that have not run and of which every operand exists, and then views of these.
  void run_ready_views(std::vector<NodeId> candidates) {
    for (std::size_t next = 0; next < candidates.size(); ++next) {
      const NodeId node = candidates[next];
      if (!is_view(node) || first_[node]) continue;
      const std::vector<TensorId> operands = graph_.operands(node);
      const bool is_ready =
          std::all_of(operands.begin(), operands.end(), [&](TensorId operand) { return latest_[operand].has_value(); });
      if (!is_ready) continue;
      run(node);
      const std::vector<NodeId> readers = readers_of(node);
      candidates.insert(candidates.end(), readers.begin(), readers.end());
    }
  }

  // Runs the views again that these tensors come from, if what they read has run again.
  void refresh(const std::vector<TensorId>& tensors) {
    std::vector<NodeId> views;
    std::vector<TensorId> open = tensors;
    std::set<NodeId> seen;
    while (!open.empty()) {
      const std::optional<NodeId>& producer = graph_.tensor(open.back()).producer;
      open.pop_back();
      if (!producer || !is_view(*producer) || !seen.insert(*producer).second) continue;
      views.push_back(*producer);
      const std::vector<TensorId> operands = graph_.operands(*producer);
      open.insert(open.end(), operands.begin(), operands.end());
    }
    std::sort(views.begin(), views.end());  // ids are in topological order
    for (NodeId view : views) {
      if (latest_of(graph_.operands(view)) != read_by_[view]) run(view);
    }
  }

  [[nodiscard]] std::vector<TensorId> latest_of(const std::vector<TensorId>& tensors) const {
    std::vector<TensorId> latest;
    latest.reserve(tensors.size());
    for (TensorId tensor : tensors) latest.push_back(latest_[tensor].value());
    return latest;
  }

  void run(NodeId node) {
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(graph_, node);
    if (is_view(node)) read_by_[node] = latest_of(graph_.operands(node));
    for (std::optional<TensorId>& input : spec.inputs) {
      if (input) input = latest_[*input].value();
    }
    for (Body& body : spec.bodies) {
      for (auto& [outer, inner] : body.captures) outer = latest_[outer].value();
      std::sort(body.captures.begin(), body.captures.end());
    }
    std::vector<NodeId> waits;
    for (NodeId before : spec.control_inputs) {
      if (first_[before]) waits.push_back(*first_[before]);
    }
    spec.control_inputs = std::move(waits);
    for (std::optional<TensorId>& output : spec.outputs) {
      if (!output) continue;
      add_tensor(*output, Role::temporary);
      output = latest_[output.value()];
    }
    const NodeId made = builder_.add_node(std::move(spec));
    node_of_.push_back(node);
    if (!first_[node]) first_[node] = made;
  }

  void set_results() {
    std::vector<TensorId> results = graph_.outputs();
    for (const StateUpdate& update : graph_.state_updates()) results.push_back(update.next);
    refresh(results);
    std::vector<TensorId> outputs;
    for (TensorId output : graph_.outputs()) outputs.push_back(latest_[output].value());
    builder_.set_outputs(std::move(outputs));
    for (const StateUpdate& update : graph_.state_updates()) {
      builder_.add_state_update(latest_[update.state].value(), latest_[update.next].value());
    }
  }

  Result<ExpandedGraph> finish() {
    Result<GraphBuilder::Built> built = std::move(builder_).build_with_ids();
    if (!built) return built.error();
    IdVector<NodeId, NodeId> node_of(node_of_.size());
    for (NodeId made : all_ids<NodeId>(node_of_.size())) node_of[built->node_ids[made]] = node_of_[made];
    return ExpandedGraph{
        .graph = std::move(built->graph), .node_of = std::move(node_of), .tensor_of = std::move(tensor_of_)};
  }

  const Graph& graph_;
  const AliasClasses& aliases_;
  GraphBuilder builder_;
  std::set<std::string> names_;
  std::uint64_t renamed_ = 0;
  IdVector<TensorId, std::optional<TensorId>> latest_;  // of the expanded graph, by tensor of the original
  IdVector<NodeId, std::vector<TensorId>> read_by_;     // by view: what its latest run read
  IdVector<NodeId, std::optional<NodeId>> first_;       // the first run of each node
  IdVector<NodeId, NodeId> node_of_;                    // by run
  IdVector<TensorId, TensorId> tensor_of_;
};

// The captures that a step reads after its inputs ascend by id, and the ids of the expanded graph have another order.
std::vector<ValueId> reads_in_order(const Graph& graph, NodeId node, const Program& program,
                                    const std::vector<ValueId>& reads) {
  std::vector<ValueId> ordered = reads;
  if (graph.node(node).bodies.empty()) return ordered;
  const std::vector<TensorId> operands = graph.operands(node);
  for (std::size_t at = 0; at < operands.size(); ++at) {
    if (program.values[reads[at]].tensor == operands[at]) continue;
    const auto found = std::find_if(reads.begin(), reads.end(),
                                    [&](ValueId value) { return program.values[value].tensor == operands[at]; });
    if (found != reads.end()) ordered[at] = *found;
  }
  return ordered;
}

}  // namespace

Result<ExpandedGraph> expand_runs(const Graph& graph, const AliasClasses& aliases, const std::vector<NodeId>& runs) {
  return Expansion(graph, aliases).make(runs);
}

ExpandedKernels expand_kernels(const ExpandedGraph& expanded, const KernelChoice& choice) {
  ExpandedKernels result;
  for (NodeId id : all_ids<NodeId>(expanded.node_of.size())) {
    const NodeId original = expanded.node_of[id];
    result.kernels.push_back(choice.kernels.planned[original]);
    if (const PlannedBodies* inside = bodies_of(choice.bodies, original)) {
      result.bodies.push_back(*inside);
      result.bodies.back().node = id;
    }
  }
  return result;
}

Plan contract_plan(const Graph& graph, const ExpandedGraph& expanded, Plan plan) {
  for (Value& value : plan.program.values) value.tensor = expanded.tensor_of[value.tensor];
  for (Step& step : plan.program.steps) {
    if (Compute* compute = std::get_if<Compute>(&step.work)) {
      compute->node = expanded.node_of[compute->node];
    } else if (Alias* alias = std::get_if<Alias>(&step.work)) {
      alias->node = expanded.node_of[alias->node];
    }
    const std::optional<NodeId> node = node_of(step);
    if (node) step.reads = reads_in_order(graph, *node, plan.program, step.reads);
  }
  return plan;
}

}  // namespace lowtide::pipeline_internal
