// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/copies_left.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lowtide/analysis/views.h"
#include "lowtide/base/flags.h"
#include "lowtide/graph/lowered.h"

namespace lowtide {
namespace {

// One graph and its plan.
struct Level {
  const Graph& graph;
  const Plan& plan;
  std::string inside;
};

bool is_reorder(const Operator& op) { return op.domain == kOwnDomain && op.type == kReorderType; }
bool is_transpose(const Operator& op) { return op.domain == kOwnDomain && op.type == kTransposeType; }
bool is_padded_concat(const Operator& op) { return op.domain == kOwnDomain && op.type == kConcatType; }

bool has_upper_bounds(const Graph& graph, const Node& node) {
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (const std::optional<TensorId>& id : *list) {
      if (id && graph.tensor(*id).shape.has_upper_bounds()) return true;
    }
  }
  return false;
}

// Whether a Slice takes elements that do not follow each other.
bool has_steps(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 5 || !node.inputs[4]) return false;
  const std::vector<std::int64_t>* steps = graph.known_integers(*node.inputs[4]);
  return steps != nullptr && std::ranges::any_of(*steps, [](std::int64_t step) { return step != 1; });
}

bool has_unknown_parameter(const Graph& graph, const Node& node) {
  return std::any_of(node.inputs.begin() + 1, node.inputs.end(), [&](const std::optional<TensorId>& input) {
    return input && graph.known_integers(*input) == nullptr;
  });
}

// Why views_of() returns none. nullopt: the node does more than to move bytes.
std::optional<CopyReason> reason_of_shapes(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const ViewKind kind = graph.op(id).traits.view;
  if (has_upper_bounds(graph, node)) return CopyReason::unknown;
  switch (kind) {
    case ViewKind::none:
    case ViewKind::whole: return std::nullopt;  // a conversion, or a Dropout with a mask
    case ViewKind::expand:
    case ViewKind::transpose: return CopyReason::reorders;
    case ViewKind::slice:
      if (has_steps(graph, node)) return CopyReason::reorders;
      return has_unknown_parameter(graph, node) ? CopyReason::unknown : CopyReason::pieces;
    case ViewKind::split: return has_unknown_parameter(graph, node) ? CopyReason::unknown : CopyReason::pieces;
    case ViewKind::concat: return CopyReason::pieces;
  }
  return std::nullopt;
}

class Copies {
 public:
  explicit Copies(const Level& level)
      : graph_(level.graph),
        plan_(level.plan),
        largest_(plan_.layout.buffers.size()),
        has_larger_(graph_.tensors().size()) {
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      std::optional<TensorId>& largest = largest_[plan_.layout.values[id].buffer];
      const TensorId tensor = plan_.program.values[id].tensor;
      if (!largest || size_of(tensor) > size_of(*largest)) largest = tensor;
    }
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      const TensorId tensor = plan_.program.values[id].tensor;
      if (size_of(*largest_[plan_.layout.values[id].buffer]) > size_of(tensor)) has_larger_.set(tensor);
    }
  }

  // nullopt: the step does not only move bytes.
  [[nodiscard]] std::optional<CopyReason> reason_of(const Step& step) const {
    if (is_copy(step)) return reason_of_copy(step);
    const auto* compute = std::get_if<Compute>(&step.work);
    if (compute == nullptr) return std::nullopt;
    if (is_reorder(graph_.op(compute->node))) return CopyReason::format;
    if (is_transpose(graph_.op(compute->node))) return CopyReason::reorders;
    if (is_padded_concat(graph_.op(compute->node))) return CopyReason::pieces;
    if (graph_.op(compute->node).traits.view == ViewKind::none || !graph_.node(compute->node).bodies.empty())
      return std::nullopt;
    const std::vector<View> views = views_of(graph_, compute->node);
    if (views.empty()) return reason_of_shapes(graph_, compute->node);
    // The largest part decides, because it is the one that costs most.
    const View& view = *std::ranges::max_element(views, {}, [&](const View& one) { return size_of(one.part); });
    const bool is_concat = graph_.op(compute->node).traits.view == ViewKind::concat;
    return is_concat ? reason_of_operand(view.part, view.whole) : reason_of_part(view.part, view.whole);
  }

 private:
  [[nodiscard]] Bytes size_of(TensorId id) const { return graph_.tensor(id).size; }
  [[nodiscard]] bool is_external(TensorId id) const { return !graph_.tensor(id).producer.has_value(); }

  [[nodiscard]] CopyReason reason_of_copy(const Step& step) const {
    const ValueId from = step.reads[0];
    const ValueId to = step.writes[0];
    const Buffer& source = plan_.layout.buffers[plan_.layout.values[from].buffer];
    const Buffer& target = plan_.layout.buffers[plan_.layout.values[to].buffer];
    if (target.kind == BufferKind::state) return CopyReason::state;
    if (source.placement && target.placement && source.placement->region != target.placement->region)
      return CopyReason::region;
    // An operand of a concat: the result has the bytes of the copy, and is larger.
    return reason_of_operand(plan_.program.values[from].tensor, *largest_[plan_.layout.values[to].buffer]);
  }

  // Why an operand of a concat is not in its result.
  [[nodiscard]] CopyReason reason_of_operand(TensorId part, TensorId whole) const {
    if (is_external(part)) return CopyReason::outside;
    if (graph_.is_needed_at_end(part) && graph_.is_needed_at_end(whole)) return CopyReason::output;
    if (has_larger_.test(part)) return CopyReason::elsewhere;
    return CopyReason::chosen;
  }

  // Why the part of a slice, or all bytes of another view, are not those of the whole.
  [[nodiscard]] CopyReason reason_of_part(TensorId part, TensorId whole) const {
    if (has_larger_.test(part)) return CopyReason::elsewhere;
    if (!graph_.is_needed_at_end(part)) return CopyReason::chosen;
    if (is_external(whole)) return CopyReason::outside;
    return graph_.is_needed_at_end(whole) ? CopyReason::output : CopyReason::chosen;
  }

  const Graph& graph_;
  const Plan& plan_;
  IdVector<BufferId, std::optional<TensorId>> largest_;  // the largest tensor in each buffer
  Flags<TensorId> has_larger_;                           // tensors with a value in a buffer of a larger one
};

CopyLeft copy_of(const Level& level, StepId id, CopyReason reason) {
  const Step& step = level.plan.program.steps[id];
  CopyLeft one{.inside = level.inside, .step = id, .reason = reason};
  const auto tensor_of = [&](ValueId value) -> const Tensor& {
    return level.graph.tensor(level.plan.program.values[value].tensor);
  };
  if (const auto* copy = std::get_if<Copy>(&step.work)) {
    one.op = "copy";
    one.name = tensor_of(step.writes[0]).name;
    one.bytes = Bytes(copy->bytes.end - copy->bytes.begin);
    return one;
  }
  one.op = full_name(level.graph.op(*node_of(step)));
  one.name = level.graph.node(*node_of(step)).name;
  for (ValueId value : step.writes) one.bytes += tensor_of(value).size;
  return one;
}

void add_bodies(const Level& level, std::vector<Level>& levels) {
  const IdVector<StepId, Step>& steps = level.plan.program.steps;
  const std::string inside = level.inside.empty() ? "" : level.inside + "/";
  for (StepId id : all_ids<StepId>(steps.size())) {
    const std::vector<BodyPlan>& bodies = level.plan.layout.steps[id].bodies;
    for (std::size_t at = 0; at < bodies.size(); ++at) {
      if (!bodies[at].plan) continue;
      const Node& node = level.graph.node(*node_of(steps[id]));
      levels.push_back({*node.bodies[at].graph, *bodies[at].plan, inside + node.name + "/" + bodies[at].body});
    }
  }
}

}  // namespace

std::vector<CopyLeft> copies_left(const Graph& graph, const Plan& plan) {
  std::vector<Level> levels{{graph, plan, ""}};
  std::vector<CopyLeft> found;
  for (std::size_t at = 0; at < levels.size(); ++at) {
    const Level level = levels[at];
    const Copies copies(level);
    const IdVector<StepId, Step>& steps = level.plan.program.steps;
    for (StepId id : all_ids<StepId>(steps.size())) {
      const std::optional<CopyReason> reason = copies.reason_of(steps[id]);
      if (!reason) continue;
      CopyLeft one = copy_of(level, id, *reason);
      if (one.bytes > Bytes(0)) found.push_back(std::move(one));
    }
    add_bodies(level, levels);
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &CopyLeft::bytes);
  return found;
}

}  // namespace lowtide
