// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/sequence/bodies.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/try.h"
#include "lowtide/pipeline/task/target_kernels.h"

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

void add_plan(PlannedBodies& bodies, PlannedGraph planned) {
  bodies.verdict = std::max(bodies.verdict, planned.bound_check.verdict);
  bodies.plans.push_back(std::make_shared<const Plan>(std::move(planned.plan)));
}

std::optional<Bytes> alignment_of_scratch(const Plan& plan, const StepSpace& space) {
  if (!space.scratch || !plan.layout.buffers[*space.scratch].placement) return std::nullopt;
  return plan.machine.regions[plan.layout.buffers[*space.scratch].placement->region.index()].alignment;
}

}  // namespace

Result<BodyPlans> plan_bodies(const Task& task, const PlanBody& plan_body) {
  if (task.depth > limits::kMaxBodyNesting) {
    return Error{ErrorCode::over_limit,
                 "graphs are nested deeper than " + std::to_string(limits::kMaxBodyNesting) +
                     " levels (kMaxBodyNesting); unnest the model",
                 ""};
  }
  const Bytes alignment = alignments_of(task.target).most;
  BodyPlans planned;
  bool has_lighter = false;
  for (NodeId id : all_ids<NodeId>(task.graph.nodes().size())) {
    if (task.graph.node(id).bodies.empty()) continue;
    PlannedBodies fastest{id, {}, {}, {}};
    PlannedBodies lightest{id, {}, {}, {}};
    for (const Body& body : task.graph.node(id).bodies) {
      LOWTIDE_TRY(PlannedBody inner, plan_body(*body.graph));
      add_plan(fastest, std::move(inner.fastest));
      has_lighter = has_lighter || inner.lightest;
      if (inner.lightest) {
        add_plan(lightest, *std::move(inner.lightest));
      } else {
        lightest.plans.push_back(fastest.plans.back());
        lightest.verdict = std::max(lightest.verdict, fastest.verdict);
      }
    }
    const bool may_share = task.graph.op(id).traits.has_exclusive_bodies;
    LOWTIDE_RETURN_IF_ERROR(lay_out(fastest, may_share, alignment));
    LOWTIDE_RETURN_IF_ERROR(lay_out(lightest, may_share, alignment));
    planned.fastest.push_back(std::move(fastest));
    planned.lightest.push_back(std::move(lightest));
  }
  if (!has_lighter) planned.lightest.clear();
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
