// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/pipeline/sequence/sequence.h"
#include "lowtide/pipeline/task/task.h"

namespace lowtide::pipeline_internal {

// Whether nodes may run again to keep the budget of a task: there is one, for one sequence in one region, and the plan
// exceeds it.
[[nodiscard]] bool may_recompute(const Task& task, const Plan& plan);

// Looks for a plan with its kernels on one stream that fits because some nodes run again or, with a link to memory
// outside of the arena (swap_route.h), tensors leave and come back, at the least estimated time. Copies run on streams
// of the links. Returns the plan, or `planned` with what was found out (PlannedGraph::recomputation).
//   1. A relaxed problem (graph_model.h) may prove that no such plan fits. It also bounds the time.
//   2. `rematerialize`, or with a link `search_swaps`, finds a sequence of runs and transfers for a limit of the live
//      bytes, the graph is expanded to it (expand_runs.h), and the stages that share bytes and assign offsets plan it.
//      The limit is an estimate of what the arena will need. So it is lowered while the arena is above the budget, and
//      raised while it is below, at most kMostTries times. First each node has its fastest kernel, then the one that
//      needs least.
//      The search begins from the order with the lowest peak, then from the order of the model and from the best other
//      one. These two end after the first try if it is no faster than the best plan, and after kMostOtherTries.
//   3. The fastest plan that fits is returned. A plan that exceeds the budget is never returned as fitting.
// Requires: may_recompute. Errors: those of allocate_regions.
// Effort: PlanOptions::proof_effort for the proof, and for each choice of kernels at most kMostTries +
// 2 * kMostOtherTries times a tenth of PlanOptions::recompute_effort, with the effort of allocate.
[[nodiscard]] Result<PlannedGraph> recompute(const Task& task, const Alternatives& plans, PlannedGraph planned);

inline constexpr int kMostTries = 10;
inline constexpr int kMostOtherTries = 3;

}  // namespace lowtide::pipeline_internal
