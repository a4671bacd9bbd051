// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/recompute/expand_runs.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/base/try.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/lowered.h"

namespace lowtide::pipeline_internal {
namespace {

class Expansion {
 public:
  Expansion(const Graph& graph, const AliasClasses& aliases, const AliasOptions& options, const RunSequence& sequence)
      : graph_(graph),
        aliases_(aliases),
        options_(options),
        sequence_(sequence),
        builder_(graph.name()),
        latest_(graph.tensors().size()),
        read_by_(graph.nodes().size()),
        first_(graph.nodes().size()),
        results_(sequence.runs.size()) {
    for (const Tensor& tensor : graph.tensors()) names_.insert(tensor.name);
  }

  Result<ExpandedGraph> make() && {
    list_transfers();
    find_uses();
    add_sources();
    run_ready_views(all_ids_of_nodes());
    for (NodeId node : sequence_.runs) {
      refresh(graph_.operands(node));
      const bool is_first = !first_[node];
      run(node);
      note_results(node);
      if (is_first) run_ready_views(readers_of(node));
      add_moves();
      ++position_;
    }
    set_results();
    run_other_views();
    return finish();
  }

 private:
  // A result of a run: its tensor in the expanded graph, and the one that stands for its copy outside.
  struct RunResultTensor {
    TensorId original;
    TensorId made;
    std::optional<TensorId> outside;
    std::vector<std::uint32_t> uses;  // the positions that read it, ascending; the number of runs is the end
  };

  // Copies out end in their order. So one is complete as soon as a later one is.
  void list_transfers() {
    for (const Transfer& transfer : sequence_.transfers) {
      (transfer.direction == TransferDirection::out ? outs_ : ins_).push_back(transfer);
    }
    for (std::size_t at = outs_.size(); at-- > 1;) {
      outs_[at - 1].complete = std::min(outs_[at - 1].complete, outs_[at].complete);
    }
    std::map<std::uint32_t, std::uint32_t> next;  // by run: when the next copy in of its results is complete
    stays_until_.resize(ins_.size());
    for (std::size_t at = ins_.size(); at-- > 0;) {
      const auto [found, is_last] = next.try_emplace(ins_[at].run, ins_[at].complete);
      stays_until_[at] = is_last ? std::numeric_limits<std::uint32_t>::max() : found->second;
      found->second = ins_[at].complete;
      ins_of_[ins_[at].run].push_back(at);
    }
  }

  // Whether something reads the result between this copy in and the next one. The problem may have more readers than
  // the graph: those of a concat that holds the result may also need it there.
  [[nodiscard]] bool is_read_after(const RunResultTensor& result, std::size_t in) const {
    const auto use = std::lower_bound(result.uses.begin(), result.uses.end(), ins_[in].complete);
    return use != result.uses.end() && *use < stays_until_[in];
  }
  [[nodiscard]] bool comes_back(const RunResultTensor& result, const Transfer& out) const {
    const auto ins = ins_of_.find(out.run);
    return ins != ins_of_.end() && std::ranges::any_of(ins->second, [&](std::size_t in) {
             return ins_[in].complete > out.complete && is_read_after(result, in);
           });
  }

  // Calls function(tensor) for each tensor that a run made or the caller gave and that these are bytes of.
  template <typename Function>
  void for_each_source(std::vector<TensorId> open, const Function& function) const {
    std::set<TensorId> seen(open.begin(), open.end());
    while (!open.empty()) {
      const TensorId tensor = open.back();
      open.pop_back();
      const std::optional<NodeId>& producer = graph_.tensor(tensor).producer;
      if (!producer) continue;
      if (!is_view(*producer)) {
        function(tensor);
        continue;
      }
      for (TensorId operand : graph_.operands(*producer)) {
        if (seen.insert(operand).second) open.push_back(operand);
      }
    }
  }

  void find_uses() {
    if (sequence_.transfers.empty()) return;
    IdVector<NodeId, std::uint32_t> latest(graph_.nodes().size(), 0);
    const auto use = [&](const std::vector<TensorId>& tensors, std::uint32_t at) {
      for_each_source(tensors, [&](TensorId tensor) {
        for (RunResultTensor& result : results_[latest[*graph_.tensor(tensor).producer]]) {
          if (result.original == tensor) result.uses.push_back(at);
        }
      });
    };
    for (std::uint32_t at = 0; at < sequence_.runs.size(); ++at) {
      const NodeId node = sequence_.runs[at];
      use(graph_.operands(node), at);
      latest[node] = at;
      for (const std::optional<TensorId>& output : graph_.node(node).outputs) {
        if (output) results_[at].push_back({.original = *output, .made = {}, .outside = std::nullopt, .uses = {}});
      }
    }
    std::vector<TensorId> kept = graph_.outputs();
    for (const StateUpdate& update : graph_.state_updates()) kept.push_back(update.next);
    use(kept, static_cast<std::uint32_t>(sequence_.runs.size()));
  }

  void note_results(NodeId node) {
    latest_run_[node] = position_;
    for (RunResultTensor& result : results_[position_]) result.made = latest_[result.original].value();
  }

  // The copies right after the run at this position.
  void add_moves() {
    for (; next_out_ < outs_.size() && outs_[next_out_].complete <= position_ + 1; ++next_out_) {
      const Transfer& out = outs_[next_out_];
      for (RunResultTensor& result : results_[out.run]) {
        if (can_leave(result) && comes_back(result, out)) move_out(result, out);
      }
    }
    for (; next_in_ < ins_.size() && ins_[next_in_].issue == position_; ++next_in_) {
      const Transfer& in = ins_[next_in_];
      if (latest_run_[sequence_.runs[in.run]] != in.run) continue;
      for (const RunResultTensor& result : results_[in.run]) {
        if (result.outside && is_read_after(result, next_in_)) move_in(result, in);
      }
    }
  }

  [[nodiscard]] bool can_leave(const RunResultTensor& result) const {
    return graph_.tensor(result.original).size > Bytes(0) && !sequence_.stays.contains(result.original) &&
           is_in_arena(aliases_.classes[aliases_.class_of[result.original]], options_);
  }

  void move_out(RunResultTensor& result, const Transfer& out) {
    const TensorId outside = builder_.add_tensor(
        {.name = new_name(graph_.tensor(result.original).name), .dtype = DType::u8, .shape = Shape({0})});
    tensor_of_.push_back(result.original);
    add_move("Leave", result.made, outside, out);
    result.outside = outside;
    moved_.insert(result.original);
  }

  void move_in(const RunResultTensor& result, const Transfer& in) {
    add_tensor(result.original, Role::temporary);
    add_move("Return", *result.outside, *latest_[result.original], in);
  }

  void add_move(std::string type, TensorId from, TensorId to, const Transfer& transfer) {
    moves_.push_back({.node = builder_.add_node({.name = "",
                                                 .domain = std::string(kOwnDomain),
                                                 .type = std::move(type),
                                                 .inputs = {from},
                                                 .outputs = {to}}),
                      .transfer = transfer});
    node_of_.push_back(sequence_.runs[transfer.run]);
    run_of_.push_back(position_);
  }

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
      if (!is_ready || reads_moved(operands)) continue;
      run(node);
      const std::vector<NodeId> readers = readers_of(node);
      candidates.insert(candidates.end(), readers.begin(), readers.end());
    }
  }

  // What leaves may be away until the next reader of the problem. So a view of it waits for its own reader.
  [[nodiscard]] bool reads_moved(const std::vector<TensorId>& operands) const {
    bool is_moved = false;
    if (!moved_.empty())
      for_each_source(operands, [&](TensorId tensor) { is_moved = is_moved || moved_.contains(tensor); });
    return is_moved;
  }

  // Views that nothing reads.
  void run_other_views() {
    for (NodeId node : all_ids_of_nodes()) {
      if (!is_view(node) || first_[node]) continue;
      refresh(graph_.operands(node));
      run(node);
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
    run_of_.push_back(position_);
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
    LOWTIDE_TRY(GraphBuilder::Built built, std::move(builder_).build_with_ids());
    IdVector<NodeId, NodeId> node_of(node_of_.size());
    IdVector<NodeId, std::uint32_t> run_of(node_of_.size());
    for (NodeId made : all_ids<NodeId>(node_of_.size())) {
      node_of[built.node_ids[made]] = node_of_[made];
      run_of[built.node_ids[made]] = run_of_[made];
    }
    for (ExpandedMove& move : moves_) move.node = built.node_ids[move.node];
    return ExpandedGraph{.graph = std::move(built.graph),
                         .node_of = std::move(node_of),
                         .run_of = std::move(run_of),
                         .tensor_of = std::move(tensor_of_),
                         .moves = std::move(moves_)};
  }

  const Graph& graph_;
  const AliasClasses& aliases_;
  const AliasOptions& options_;
  const RunSequence& sequence_;
  GraphBuilder builder_;
  std::set<std::string> names_;
  std::uint64_t renamed_ = 0;
  IdVector<TensorId, std::optional<TensorId>> latest_;  // of the expanded graph, by tensor of the original
  IdVector<NodeId, std::vector<TensorId>> read_by_;     // by view: what its latest run read
  IdVector<NodeId, std::optional<NodeId>> first_;       // the first run of each node
  IdVector<NodeId, NodeId> node_of_;                    // by run
  IdVector<NodeId, std::uint32_t> run_of_;              // by run: its position
  IdVector<TensorId, TensorId> tensor_of_;

  std::uint32_t position_ = 0;                         // of the run in the sequence
  std::vector<std::vector<RunResultTensor>> results_;  // by position; empty without transfers
  std::map<NodeId, std::uint32_t> latest_run_;         // position
  std::vector<Transfer> outs_;                         // in their order, each complete no later than the next one
  std::vector<Transfer> ins_;
  std::vector<std::uint32_t> stays_until_;                    // by copy in: when the next one of its run is complete
  std::map<std::uint32_t, std::vector<std::size_t>> ins_of_;  // by run: copies in of its results
  std::size_t next_out_ = 0;
  std::size_t next_in_ = 0;
  std::vector<ExpandedMove> moves_;
  std::set<TensorId> moved_;  // what has left at least once
};

}  // namespace

Result<ExpandedGraph> expand_runs(const Graph& graph, const AliasClasses& aliases, const AliasOptions& options,
                                  const RunSequence& sequence) {
  return Expansion(graph, aliases, options, sequence).make();
}

}  // namespace lowtide::pipeline_internal
