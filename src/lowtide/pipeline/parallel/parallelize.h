// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/pipeline/parallel/parallel_plan.h"
#include "lowtide/pipeline/planned_graph.h"

namespace lowtide::pipeline_internal {

// Plans the runs that the options ask for. Streams and waves are planned with several caps on the load and several
// priorities, dataflow once. Each plan has offsets and waits. If the arena is above the peak, also plans the run with
// whole buffers, and with slices, splits and concats that copy. Such a plan replaces the first if it needs fewer bytes
// and takes at most 1 % longer. Chooses from the plan on one stream and the plans of the requested execution model. The
// choice is made among the plans whose arena exceeds that of one stream by at most `arena_slack_percent`. It is the one
// with the smallest arena of those that take at most kTimeTolerancePercent longer than the fastest, and no longer than
// the plan on one stream. Plans that fit come before others; among equals, the fastest wins. For dataflow, the choice
// is the dataflow plan.
//
// Cost: per run, what a plan costs after its order is known. Errors: those of with_barriers and plan_dataflow.
// `sequence`: the outcome for one stream. Its plan is replaced by the chosen one, and trade-offs and violations of all
// plans are added. The plans that are not chosen are verified here, because later stages do not see them.
[[nodiscard]] Result<PlannedGraph> parallelize(const ParallelizeInput& input, PlannedGraph sequence);

// Marks the plans that no sequence and no other plan of their execution model beats. To beat means less time for no
// more bytes, or fewer bytes for no more time. Of equal plans the first is marked. O(trade-offs^2).
void mark_pareto_front(std::vector<TradeOff>& trade_offs);

}  // namespace lowtide::pipeline_internal
