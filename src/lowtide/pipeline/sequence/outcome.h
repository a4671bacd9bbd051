// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/pipeline/sequence/sequence.h"
#include "lowtide/pipeline/task/task.h"
#include "lowtide/schedule/choose_order.h"
#include "lowtide/verify/check_bound.h"

namespace lowtide::pipeline_internal {

// The complete plan on one stream. `for_all_kernels`: a bound of scope run_once; nullopt if none is known yet.
// O(nodes + edges), a copy of the draft, and the effort of live_set_bound if some nodes have several kernels.
[[nodiscard]] Plan sequential_plan(const Task& task, const Sequence& sequence,
                                   const std::optional<LoadBound>& for_all_kernels);

// The result of the stages for one stream, which is one of these plans: the complete plan and what else they found.
[[nodiscard]] PlannedGraph collect(const Task& task, const Alternatives& plans, const Sequence& sequence);

// Whether the bound of this scope that a plan claims proves that no plan of the scope fits what the task leaves for the
// arenas. The bound counts whole units of the alignment, but the last buffer of a region need not fill its last unit.
[[nodiscard]] bool is_capacity_below_bound(const Task& task, const Claims& claims, BoundScope scope);

// Fills in whether the plan fits, and if not, whether no plan can.
void judge_capacity(const Task& task, PlannedGraph& planned);

}  // namespace lowtide::pipeline_internal
