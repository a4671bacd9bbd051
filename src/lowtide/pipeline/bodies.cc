// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/bodies.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/pipeline/choose_kernels.h"

namespace lowtide::pipeline_internal {
namespace {

Result<void> lay_out(PlannedBodies& bodies, bool may_share, Bytes alignment) {
  for (const auto& plan : bodies.plans) {
    const Bytes begin = may_share ? Bytes(0) : round_up(bodies.bytes, alignment);
    bodies.offsets.emplace_back(begin.count());
    bodies.bytes = std::max(bodies.bytes, begin + plan->layout.arena[0]);
    if (bodies.bytes.count() <= limits::kMaxArenaBytes) continue;
    return Error{ErrorCode::over_limit,
                 "the bodies of node " + std::to_string(bodies.node.value()) + " need at least " +
                     std::to_string(bodies.bytes.count()) + " bytes together, above the limit of " +
                     std::to_string(limits::kMaxArenaBytes) + " (kMaxArenaBytes); plan smaller shapes",
                 ""};
  }
  return {};
}

std::optional<Bytes> alignment_of_scratch(const Plan& plan, const StepSpace& space) {
  if (!space.scratch || !plan.layout.buffers[*space.scratch].placement) return std::nullopt;
  return plan.machine.regions[plan.layout.buffers[*space.scratch].placement->region.index()].alignment;
}

}  // namespace

Result<std::vector<PlannedBodies>> plan_bodies(const Task& task, const PlanBody& plan_body) {
  if (task.depth > limits::kMaxBodyNesting) {
    return Error{ErrorCode::over_limit,
                 "graphs are nested deeper than " + std::to_string(limits::kMaxBodyNesting) +
                     " levels (kMaxBodyNesting); unnest the model",
                 ""};
  }
  const Bytes alignment = alignments_of(task.target).most;
  std::vector<PlannedBodies> planned;
  for (NodeId id : all_ids<NodeId>(task.graph.nodes().size())) {
    if (task.graph.node(id).bodies.empty()) continue;
    PlannedBodies bodies{id, {}, {}, {}};
    for (const Body& body : task.graph.node(id).bodies) {
      Result<PlannedGraph> inner = plan_body(*body.graph);
      if (!inner) return inner.error();
      bodies.verdict = std::max(bodies.verdict, inner->bound_check.verdict);
      bodies.plans.push_back(std::make_shared<const Plan>(std::move(inner->plan)));
    }
    LOWTIDE_RETURN_IF_ERROR(lay_out(bodies, task.graph.op(id).traits.has_exclusive_bodies, alignment));
    planned.push_back(std::move(bodies));
  }
  return planned;
}

// Recursion is bounded by limits::kMaxBodyNesting.
void align_bodies(Plan& plan, Bytes alignment) {
  for (StepSpace& space : plan.layout.steps) {
    for (BodyPlan& body : space.bodies) {
      const Bytes here = std::min(alignment, alignment_of_scratch(plan, space).value_or(alignment));
      if (body.plan->machine.regions.empty() || body.plan->machine.regions[0].alignment == here) continue;
      Plan inner = *body.plan;
      inner.machine.regions[0].alignment = here;
      align_bodies(inner, here);
      body.plan = std::make_shared<const Plan>(std::move(inner));
    }
  }
}

}  // namespace lowtide::pipeline_internal
