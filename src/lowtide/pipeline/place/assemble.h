// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/place/planned_bodies.h"
#include "lowtide/pipeline/task/worker.h"
#include "lowtide/plan/plan.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide::pipeline_internal {

// What every plan of a graph is made from, whatever its order.
struct PlanParts {
  const Graph& graph;
  const ChosenKernels& kernels;
  const std::vector<PlannedBodies>& bodies;
  const Machine& machine;  // of the plan
};

// The first step of the program for each position of an order, and at the end the number of steps of all nodes. A node
// has one step, after one step per operand that is copied into its result (AliasClasses::copies).
[[nodiscard]] std::vector<StepId> first_steps(const std::vector<NodeId>& order, const AliasClasses& aliases);

// A plan with everything except placements, arenas, provenance and claims. Its program is a sequence on one stream: the
// steps of the nodes in their order (first_steps), then one copy per state update. Value i is what a node writes to
// tensor i; copies come after these. Sizes of placed buffers are whole multiples of the alignment.
[[nodiscard]] Plan assemble(const PlanParts& parts, const Schedule& schedule, const AliasOptions& options);

// Gives the program `count` streams of kWorker.
void set_streams(Program& program, std::size_t count);

// The buffers that occupy bytes of the arena, in ascending id. `aliases` are those the plan was assembled from: buffer
// i is class i, and scratch comes after them.
[[nodiscard]] std::vector<BufferId> buffers_in_arena(const Plan& plan, const AliasClasses& aliases,
                                                     const AliasOptions& options);

}  // namespace lowtide::pipeline_internal
