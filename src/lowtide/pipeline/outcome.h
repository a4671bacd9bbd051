// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/pipeline/node_kernels.h"
#include "lowtide/pipeline/place_schedule.h"
#include "lowtide/pipeline/task.h"
#include "lowtide/schedule/choose_order.h"
#include "lowtide/verify/check_bound.h"

namespace lowtide::pipeline_internal {

// The complete plan on one stream. O(nodes + edges) and a copy of the draft.
[[nodiscard]] Plan sequential_plan(const Task& task, const NodeKernels& kernels, const ChosenOrder& order,
                                   const PlacedSchedule& placed);

// The result of the stages for one stream: the complete plan and what else they found.
[[nodiscard]] PlannedGraph collect(const Task& task, const NodeKernels& kernels, const ChosenOrder& order,
                                   const PlacedSchedule& placed, const OrderBoundCheck& check);

// Fills in whether the plan fits, and if not, whether no plan can.
void judge_capacity(const Task& task, PlannedGraph& planned);

}  // namespace lowtide::pipeline_internal
