// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/pipeline/recomputation.h"
#include "lowtide/pipeline/recompute/expand_runs.h"
#include "lowtide/pipeline/sequence/sequence.h"
#include "lowtide/pipeline/task/task.h"
#include "lowtide/plan/plan.h"

namespace lowtide::pipeline_internal {

// A plan of a sequence of runs and transfers, with offsets.
struct RunPlan {
  Plan plan;  // of the original graph; without provenance and claims
  Bytes load;
  std::string allocate;          // strategy
  std::int64_t picoseconds = 0;  // by the clock of plan_clock.h
};

// Plans the graph in which every run is a node (expand_runs.h), with the kernels and the sharing of `sequence`, and
// returns the plan of the original graph. Requires: transfers only if the machine has a swap_route. Errors: those of
// allocate_regions.
[[nodiscard]] Result<RunPlan> plan_runs(const Task& task, const Sequence& sequence, RunSequence runs);

// What runs again in a plan. By node. O(steps).
[[nodiscard]] std::vector<Rerun> reruns_of(const Graph& graph, const Plan& plan, const ChosenKernels& kernels);

// What leaves the arena in a plan, by the first copy. O(steps log steps).
[[nodiscard]] std::vector<Swap> swaps_of(const Plan& plan, const Graph& graph, const ChosenKernels& kernels);

}  // namespace lowtide::pipeline_internal
