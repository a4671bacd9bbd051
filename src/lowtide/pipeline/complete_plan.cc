// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/complete_plan.h"

#include <cstdint>
#include <utility>

#include "lowtide/pipeline/bodies.h"
#include "lowtide/pipeline/capacity.h"
#include "lowtide/pipeline/choose_kernels.h"

namespace lowtide::pipeline_internal {

Plan complete_plan(const Task& task, Plan draft, PlanFacts facts) {
  draft.provenance = {.tool = task.options.tool,
                      .model = task.options.model,
                      .model_sha256 = task.options.model_sha256,
                      .graph = task.graph.name(),
                      .nodes = static_cast<std::int64_t>(task.graph.nodes().size()),
                      .tensors = static_cast<std::int64_t>(task.graph.tensors().size()),
                      .lowering = task.options.lowering,
                      .dims = task.options.dims,
                      .target = task.target.name};
  draft.claims = {.load_as_given = facts.load_as_given,
                  .load = facts.load,
                  .bounds = std::move(facts.bounds),
                  .schedule = std::move(facts.schedule),
                  .allocate = std::move(facts.allocate),
                  .allocate_optimal = arena_bytes(draft) == facts.load};
  draft.claims.schedule_optimal = bound_of(draft).bytes == facts.load;
  if (!task.is_body()) {
    relax_last_region(draft, task.target, task.arena_budget);
    align_bodies(draft, alignments_of(task.target).most);
  }
  return draft;
}

}  // namespace lowtide::pipeline_internal
