// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide::pipeline_internal {

// When the steps of a plan run, in picoseconds, by the costs of the target. A kernel takes its estimated time, and a
// copy on a link the latency plus the bytes divided by the bandwidth, rounded up to nanoseconds. Other steps take no
// time. A step begins when the step before it on its stream and all steps of `after` have ended.
struct PlanClock {
  IdVector<StepId, std::int64_t> begins;
  IdVector<StepId, std::int64_t> ends;
  std::int64_t end = 0;      // of the last step
  std::int64_t kernels = 0;  // all kernels together
};

// The sums end at cost_model::kMostPicoseconds. O(plan).
[[nodiscard]] PlanClock clock_of(const Graph& graph, const Plan& plan, const ChosenKernels& kernels);

}  // namespace lowtide::pipeline_internal
