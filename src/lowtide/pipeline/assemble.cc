// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/assemble.h"

#include <algorithm>

namespace lowtide::detail {
namespace {

void add_buffers(Plan& plan, const AliasClasses& aliases, const AliasOptions& options) {
  plan.buffers.reserve(aliases.classes.size());
  for (const AliasClass& alias : aliases.classes) {
    const bool is_rounded = takes_room(alias, options);
    plan.buffers.push_back({.kind = alias.kind,
                            .size = is_rounded ? round_up(alias.size, options.alignment) : alias.size,
                            .lifespan = alias.lifespan,
                            .placement = std::nullopt,
                            .parts = alias.parts});
  }
}

// One value a tensor: nothing is produced twice here.
void add_values(Plan& plan, const Graph& graph, const Schedule& schedule) {
  IdVector<NodeId, StepId> step_of(graph.nodes().size());
  for (std::size_t step = 0; step < schedule.order.size(); ++step) {
    step_of[schedule.order[step]] = StepId(static_cast<std::uint32_t>(step));
  }
  plan.values.reserve(graph.tensors().size());
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    plan.values.push_back({.tensor = id,
                           .written = tensor.producer ? std::optional<StepId>(step_of[*tensor.producer]) : std::nullopt,
                           .buffer = BufferId(schedule.aliases.class_of[id].value()),
                           .offset = schedule.aliases.offset_in_class[id]});
  }
}

Step make_step(const Graph& graph, const Schedule& schedule, NodeId id) {
  Step step{.node = id, .kind = schedule.aliases.step_kinds[id]};
  for (TensorId tensor : graph.reads(id)) step.reads.emplace_back(tensor.value());
  for (const std::optional<TensorId>& output : graph.node(id).outputs) {
    if (output) step.writes.emplace_back(output->value());
  }
  return step;
}

void add_scratch(Plan& plan, Step& step, Bytes scratch, StepId at, Bytes alignment) {
  if (scratch == Bytes(0)) return;
  step.scratch = plan.buffers.push_back({.kind = BufferKind::scratch,
                                         .size = round_up(scratch, alignment),
                                         .lifespan = {at, StepId(at.value() + 1)},
                                         .placement = std::nullopt});
}

}  // namespace

Plan assemble(const Graph& graph, const Schedule& schedule, const ChosenKernels& kernels,
              const std::vector<PlannedBodies>& bodies, const AliasOptions& options) {
  Plan plan;
  add_buffers(plan, schedule.aliases, options);
  add_values(plan, graph, schedule);
  plan.program.reserve(schedule.order.size());
  for (std::size_t at = 0; at < schedule.order.size(); ++at) {
    const NodeId id = schedule.order[at];
    Step step = make_step(graph, schedule, id);
    const Bytes scratch = scratch_of(schedule.aliases, kernels, id);
    add_scratch(plan, step, scratch, StepId(static_cast<std::uint32_t>(at)), options.alignment);
    const auto inside = std::lower_bound(bodies.begin(), bodies.end(), id,
                                         [](const PlannedBodies& one, NodeId wanted) { return one.node < wanted; });
    if (inside != bodies.end() && inside->node == id) {
      for (std::size_t body = 0; body < inside->plans.size(); ++body) {
        step.bodies.push_back({graph.node(id).bodies[body].name, inside->offsets[body], inside->plans[body]});
      }
    }
    plan.program.push_back(std::move(step));
  }
  return plan;
}

std::vector<BufferId> buffers_with_room(const Plan& plan, const AliasClasses& aliases, const AliasOptions& options) {
  std::vector<BufferId> buffers;
  for (BufferId id : all_ids<BufferId>(plan.buffers.size())) {
    const bool is_scratch = id.index() >= aliases.classes.size();
    if (is_scratch || takes_room(aliases.classes[AliasClassId(id.value())], options)) buffers.push_back(id);
  }
  return buffers;
}

}  // namespace lowtide::detail
