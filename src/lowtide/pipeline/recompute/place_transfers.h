// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/pipeline/recompute/expand_runs.h"
#include "lowtide/pipeline/recompute/swap_route.h"
#include "lowtide/plan/plan.h"

namespace lowtide::pipeline_internal {

// Turns the nodes of a plan of the expanded graph that stand for copies over links (ExpandedGraph::moves) into copies
// on streams of links, gives what is outside offsets there, and adds the waits:
//
//   - a copy out begins after the run that issues it, and is listed right after it. Its buffer in the arena is live up
//     to the run before which the copy is complete;
//   - a copy in begins after the run that issues it, and after the copies out that are complete before the next run;
//   - a run begins after the copies that are complete before it.
//
// Two buffers that are live at different positions may share bytes: whatever writes the bytes of a buffer waits for all
// steps that touch it, because its position follows those before which its copies are complete. All other offsets stay.
// `plan`: on one stream, in the order of the expanded graph. Errors: those of allocate. O(plan log plan + steps x
// copies), and what allocate does.
[[nodiscard]] Result<Plan> place_transfers(const ExpandedGraph& expanded, const SwapRoute& route, Plan plan);

}  // namespace lowtide::pipeline_internal
