// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/pipeline/sequence/sequence.h"
#include "lowtide/pipeline/task/task.h"

namespace lowtide::pipeline_internal {

// Plans the run that the options ask for (parallelize.h), and chooses its kernels. `chosen`: the plan on one stream. It
// does not decide the kernels, because a parallel run may need more than it does.
//
// The run has the fastest kernels if it then fits. Otherwise it is planned with the kernels of the other sequences. For
// dataflow, up to kMostDataflowExchanges further choices lie between the fastest and the lightest kernels. Each is
// exchanged until a sequence needs at most some limit, and bisection finds the highest limit with which dataflow fits.
// Of the plans that fit, the one with the least estimated time is returned. If none fits, it is the one that exceeds
// the limits by the fewest bytes.
//
// Cost: that of `parallelize` per choice of kernels. Errors: those of `parallelize` and `exchange_down_to`.
[[nodiscard]] Result<PlannedGraph> choose_parallel(const Task& task, const Alternatives& plans, PlannedGraph chosen);

inline constexpr int kMostDataflowExchanges = 8;

}  // namespace lowtide::pipeline_internal
