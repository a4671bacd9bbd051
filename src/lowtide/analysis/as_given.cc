// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/as_given.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "lowtide/analysis/peak.h"

namespace lowtide {
namespace {

Lifespan lifespan_of(const Graph& graph, TensorId id) {
  const StepId end(static_cast<std::uint32_t>(graph.nodes().size()));
  const std::optional<NodeId> producer = graph.tensor(id).producer;
  if (!producer) return {StepId(0), end};
  if (graph.is_needed_at_end(id)) return {StepId(producer->value()), end};
  const auto readers = graph.readers(id);
  const NodeId last = readers.empty() ? *producer : readers.back();
  return {StepId(producer->value()), StepId(last.value() + 1)};
}

// The value and the buffer of a tensor have the same number as the tensor.
void add_tensor(Plan& plan, const Graph& graph, TensorId id, bool is_body) {
  const Tensor& tensor = graph.tensor(id);
  Buffer buffer{.kind = buffer_kind_of(tensor.role), .size = tensor.size, .lifespan = lifespan_of(graph, id)};
  const bool is_input_of_body = is_body && tensor.role == Role::input && !tensor.is_captured;
  if (tensor.producer || is_input_of_body) buffer.placement = Placement{};
  Value value{.tensor = id};
  if (tensor.producer) value.written = StepId(tensor.producer->value());
  plan.program.values.push_back(value);
  plan.layout.values.push_back({plan.layout.buffers.push_back(std::move(buffer)), Offset(0)});
}

// Recurses over bodies only, whose nesting is at most limits::kMaxBodyNesting.
Plan plan_of_level(const Graph& graph, bool is_body) {
  Plan plan;
  plan.machine.regions.emplace_back();
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) add_tensor(plan, graph, id, is_body);
  for (TensorId id : graph.outputs()) plan.program.outputs.emplace_back(id.value());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Node& node = graph.node(id);
    Step step{.work = Compute{id, KernelId(0)}};
    for (TensorId read : graph.operands(id)) step.reads.emplace_back(read.value());
    for (const std::optional<TensorId>& output : node.outputs) {
      if (output) step.writes.emplace_back(output->value());
    }
    const StepId at = plan.program.steps.push_back(std::move(step));
    StepSpace space;
    Bytes most;
    for (const Body& body : node.bodies) {
      Plan inner = plan_of_level(*body.graph, true);
      most = std::max(most, arena_bytes(inner));
      space.bodies.push_back({body.name, Offset(0), std::make_shared<const Plan>(std::move(inner))});
    }
    if (most > Bytes(0)) {
      space.scratch = plan.layout.buffers.push_back({.kind = BufferKind::scratch,
                                                     .size = most,
                                                     .lifespan = {at, StepId(at.value() + 1)},
                                                     .placement = Placement{}});
    }
    plan.layout.steps.push_back(std::move(space));
  }
  const std::vector<Bytes> loads = load_by_step(plan.layout);
  plan.layout.arena = {*std::max_element(loads.begin(), loads.end())};
  return plan;
}

}  // namespace

Plan plan_as_given(const Graph& graph) { return plan_of_level(graph, false); }

}  // namespace lowtide
