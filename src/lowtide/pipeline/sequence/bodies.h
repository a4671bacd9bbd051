// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/pipeline/place/planned_bodies.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/pipeline/task/task.h"

namespace lowtide::pipeline_internal {

// The plans of a body with its fastest kernels, and with those that need the fewest bytes. `lightest` is nullopt if no
// kernels need less, or the stage `exchange` did not run.
struct PlannedBody {
  PlannedGraph fastest;
  std::optional<PlannedGraph> lightest;
};

// Plans one body.
using PlanBody = std::function<Result<PlannedBody>(const Graph& body)>;

// Plans of the bodies of all nodes.
struct BodyPlans {
  std::vector<PlannedBodies> fastest;
  std::vector<PlannedBodies> lightest;  // of the same nodes; empty if no body has such a plan
};

// Plans the bodies of all nodes, and lays out the arenas of each node's bodies in the scratch of the node. Exclusive
// bodies (branches of an If) share its bytes, others are placed one after another.
// Errors: those of `plan_body`; over_limit if the bodies of a node need more than kMaxArenaBytes together.
[[nodiscard]] Result<BodyPlans> plan_bodies(const Task& task, const PlanBody& plan_body);

// Sets the alignment that the plans of bodies state, also for nested bodies: `alignment`, or that of the region with
// the node's scratch if it is finer. A body's arena begins at a multiple of it, and offsets inside are aligned at least
// as coarsely.
void align_bodies(Plan& plan, Bytes alignment);

}  // namespace lowtide::pipeline_internal
