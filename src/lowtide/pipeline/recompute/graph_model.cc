// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/recompute/graph_model.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "lowtide/analysis/view_table.h"
#include "lowtide/base/flags.h"
#include "lowtide/plan/transfers.h"
#include "lowtide/target/cost.h"

namespace lowtide::pipeline_internal {
namespace {

// Collects the nodes of a problem, and the roots of each tensor.
class ModelBuilder {
 public:
  explicit ModelBuilder(const Graph& graph) : graph_(graph), roots_(graph.tensors().size()) {}

  // Adds a node that reads the roots of all operands of `id`.
  NodeId add(NodeId id, BudgetNode node, std::int64_t picoseconds) {
    std::vector<NodeId> reads;
    for (TensorId operand : graph_.operands(id))
      reads.insert(reads.end(), roots_[operand].begin(), roots_[operand].end());
    reads = unique(std::move(reads));
    count_ += reads.size();
    node.reads = CompactVector<NodeId>(reads.data(), reads.data() + reads.size());
    model_.node_of.push_back(id);
    picoseconds_.push_back(picoseconds);
    const NodeId made = model_.problem.nodes.push_back(std::move(node));
    model_.order.push_back(made);
    return made;
  }

  void set_roots(TensorId tensor, std::vector<NodeId> roots) {
    roots_[tensor] = unique(std::move(roots));
    count_ += roots_[tensor].size();
  }
  [[nodiscard]] const std::vector<NodeId>& roots(TensorId tensor) const { return roots_[tensor]; }
  void keep_to_end(TensorId tensor) {
    for (NodeId root : roots_[tensor]) model_.problem.nodes[root].is_output = true;
  }
  [[nodiscard]] bool is_too_large() const { return count_ > kMostModelReads; }

  // With costs in units that are as small as the limit of their sum allows.
  RunModel take() && {
    // In units of 2^20, rounded up, because the sum itself may be above 2^63.
    std::int64_t total = 0;
    for (std::int64_t each : picoseconds_) total += (each >> 20) + 1;
    model_.unit = total / (kMaxTotalCost >> 21) + 1;  // leaves half of the limit for stand-ins (apply_hints.h)
    for (std::size_t at = 0; at < picoseconds_.size(); ++at) {
      model_.problem.nodes[NodeId(static_cast<std::uint32_t>(at))].cost = picoseconds_[at] / model_.unit;
    }
    return std::move(model_);
  }

 private:
  static std::vector<NodeId> unique(std::vector<NodeId> nodes) {
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  const Graph& graph_;
  IdVector<TensorId, std::vector<NodeId>> roots_;  // nodes of the problem, ascending
  std::vector<std::int64_t> picoseconds_;          // by node of the problem
  std::size_t count_ = 0;                          // reads and roots
  RunModel model_;
};

class EstimatedModel {
 public:
  EstimatedModel(const Task& task, const Sequence& sequence)
      : task_(task),
        graph_(task.graph),
        kernels_(sequence.choice.kernels.planned),
        order_(sequence.placed.schedule.order),
        aliases_(sequence.placed.schedule.aliases),
        builder_(task.graph) {}

  std::optional<RunModel> make() && {
    for (NodeId id : order_) {
      if (builder_.is_too_large()) return std::nullopt;
      switch (aliases_.step_kinds[id]) {
        case StepKind::alias: pass_roots_on(id, {}); break;
        case StepKind::compute: add_computing(id); break;
        case StepKind::copy: add_copying(id); break;
      }
    }
    for (TensorId tensor : all_ids<TensorId>(graph_.tensors().size())) {
      if (graph_.is_needed_at_end(tensor) && is_placed_here(tensor)) builder_.keep_to_end(tensor);
    }
    return std::move(builder_).take();
  }

 private:
  [[nodiscard]] Bytes rounded(Bytes size) const { return round_up(size, task_.aliases.alignment); }
  [[nodiscard]] bool is_placed_here(TensorId tensor) const {
    return is_in_arena(aliases_.classes[aliases_.class_of[tensor]], task_.aliases);
  }
  [[nodiscard]] bool share_bytes(TensorId a, TensorId b) const {
    if (aliases_.class_of[a] != aliases_.class_of[b]) return false;
    const Offset at_a = aliases_.offset_in_class[a];
    const Offset at_b = aliases_.offset_in_class[b];
    return at_a < at_b + graph_.tensor(b).size && at_b < at_a + graph_.tensor(a).size;
  }

  // Each output of a view has the roots of the operands whose bytes it has, and `own`.
  void pass_roots_on(NodeId id, const std::vector<NodeId>& own) {
    const std::vector<TensorId> operands = graph_.operands(id);
    const std::span<const OperandCopy> copies = aliases_.copies_of(id);
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (!output) continue;
      std::vector<NodeId> roots = own;
      for (std::size_t at = 0; at < operands.size(); ++at) {
        const bool is_copied =
            std::any_of(copies.begin(), copies.end(), [&](const OperandCopy& copy) { return copy.operand == at; });
        if (is_copied || !share_bytes(operands[at], *output)) continue;
        const std::vector<NodeId>& passed = builder_.roots(operands[at]);
        roots.insert(roots.end(), passed.begin(), passed.end());
      }
      builder_.set_roots(*output, std::move(roots));
    }
  }

  void add_computing(NodeId id) {
    Bytes size;
    Bytes in_place;
    bool is_outside = false;
    const std::vector<TensorId> operands = graph_.operands(id);
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (!output) continue;
      is_outside = is_outside || !is_placed_here(*output) || graph_.tensor(*output).is_next_state;
      if (!is_placed_here(*output)) continue;
      const Bytes bytes = rounded(graph_.tensor(*output).size);
      size += bytes;
      const auto over = std::find_if(operands.begin(), operands.end(),
                                     [&](TensorId operand) { return share_bytes(operand, *output); });
      if (over != operands.end()) in_place += std::min(bytes, rounded(graph_.tensor(*over).size));
    }
    const OperatorTraits& traits = graph_.op(id).traits;
    const bool may_repeat =
        traits.is_pure && !traits.is_random && !traits.is_stateful && graph_.node(id).bodies.empty() && !is_outside;
    const NodeId made = builder_.add(id,
                                     {.reads = {},
                                      .size = size,
                                      .is_output = false,
                                      .extra = rounded(scratch_of(aliases_, kernels_, id)) - in_place,
                                      .runs_once = !may_repeat},
                                     estimated_picoseconds(graph_, id, kernels_[id]));
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (output) builder_.set_roots(*output, {made});
    }
  }

  // A concat that copies some operands. The others are in place.
  void add_copying(NodeId id) {
    Bytes size;
    for (const OperandCopy& copy : aliases_.copies_of(id)) size += rounded(graph_.tensor(copy.tensor).size);
    const TensorId result = *graph_.node(id).outputs[0];
    if (!is_placed_here(result)) size = Bytes(0);
    const NodeId made = builder_.add(id, {.reads = {}, .size = size, .runs_once = graph_.tensor(result).is_next_state},
                                     estimated_picoseconds(graph_, id, kernels_[id]));
    pass_roots_on(id, {made});
  }

  const Task& task_;
  const Graph& graph_;
  const ChosenKernels& kernels_;
  const std::vector<NodeId>& order_;
  const AliasClasses& aliases_;
  ModelBuilder builder_;
};

class RelaxedModel {
 public:
  RelaxedModel(const Task& task, const Sequence& sequence)
      : task_(task),
        graph_(task.graph),
        kernels_(sequence.choice.kernels.least(BoundScope::all_plans)),
        order_(sequence.placed.schedule.order),
        views_(task.graph, kernels_, BoundScope::all_plans),
        is_outside_(task.graph.tensors().size()),
        builder_(task.graph) {}

  std::optional<RunModel> make() && {
    find_outside();
    for (NodeId id : order_) {
      if (builder_.is_too_large()) return std::nullopt;
      if (views_.of(id).empty()) {
        add_node(id);
      } else if (views_.is_partial(id) && !views_.is_concat(id)) {
        add_part(id);
      } else {
        pass_roots_on(id);
      }
    }
    for (TensorId tensor : all_ids<TensorId>(graph_.tensors().size())) {
      if (graph_.tensor(tensor).role == Role::output && !is_outside_.test(tensor)) builder_.keep_to_end(tensor);
    }
    return std::move(builder_).take();
  }

 private:
  // The next contents of states, and everything whose bytes they may have.
  void find_outside() {
    for (const StateUpdate& update : graph_.state_updates()) is_outside_.set(update.next);
    for (std::size_t at = order_.size(); at-- > 0;) {
      const Node& node = graph_.node(order_[at]);
      for (const TableView& view : views_.of(order_[at])) {
        if (is_outside_.test(view.part)) is_outside_.set(view.whole);
        if (is_outside_.test(view.whole)) is_outside_.set(view.part);
      }
      for (const auto& [input, output] : kernels_[order_[at]].in_place) {
        const std::optional<TensorId>& to = node.outputs[static_cast<std::size_t>(output)];
        const std::optional<TensorId>& from = node.inputs[static_cast<std::size_t>(input)];
        if (to && from && is_outside_.test(*to)) is_outside_.set(*from);
      }
    }
  }

  void pass_roots_on(NodeId id) {
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (!output) continue;
      std::vector<NodeId> roots;
      for (const TableView& view : views_.of(id)) {
        if (view.must_copy || (view.part != *output && view.whole != *output)) continue;
        const std::vector<NodeId>& passed = builder_.roots(view.part == *output ? view.whole : view.part);
        roots.insert(roots.end(), passed.begin(), passed.end());
      }
      builder_.set_roots(*output, std::move(roots));
    }
  }

  void add_part(NodeId id) {
    const NodeId made = builder_.add(id, {}, 0);
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (output) builder_.set_roots(*output, {made});
    }
  }

  void add_node(NodeId id) {
    Bytes written;                  // by a run
    std::optional<Bytes> smallest;  // output that something reads
    std::set<TensorId> under;       // what a kernel may write over
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (!output) continue;
      if (is_outside_.test(*output)) {
        smallest = Bytes(0);
        continue;
      }
      const Bytes size = graph_.tensor(*output).size;
      written += size;
      const bool is_used = !graph_.readers(*output).empty() || graph_.is_needed_at_end(*output);
      if (is_used) smallest = std::min(smallest.value_or(size), size);
    }
    for (const auto& [input, output] : kernels_[id].in_place) {
      const std::optional<TensorId>& from = graph_.node(id).inputs[static_cast<std::size_t>(input)];
      if (from) under.insert(*from);
    }
    for (TensorId tensor : under) written -= std::min(written, graph_.tensor(tensor).size);
    const Bytes size = smallest.value_or(Bytes(0));
    const NodeId made = builder_.add(id, {.reads = {}, .size = size, .extra = written + kernels_[id].scratch - size},
                                     least_picoseconds(id));
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (output) builder_.set_roots(*output, {made});
    }
  }

  [[nodiscard]] std::int64_t least_picoseconds(NodeId id) const {
    std::int64_t least = cost_model::kMostPicoseconds;
    for (const Kernel& kernel : task_.target.catalogue->kernels(graph_, id)) {
      least = std::min(least, estimated_picoseconds(graph_, id, kernel));
    }
    return least;
  }

  const Task& task_;
  const Graph& graph_;
  const ChosenKernels& kernels_;
  const std::vector<NodeId>& order_;
  const ViewTable views_;
  Flags<TensorId> is_outside_;
  ModelBuilder builder_;
};

}  // namespace

std::optional<RunModel> estimated_model(const Task& task, const Sequence& sequence) {
  if (task.graph.nodes().size() > kMostModelNodes) return std::nullopt;
  return EstimatedModel(task, sequence).make();
}

std::optional<RunModel> relaxed_model(const Task& task, const Sequence& sequence) {
  if (task.graph.nodes().size() > kMostModelNodes) return std::nullopt;
  return RelaxedModel(task, sequence).make();
}

}  // namespace lowtide::pipeline_internal
