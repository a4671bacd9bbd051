// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/budget/phases/phase_plan.h"
#include "lowtide/budget/problem/run_problem.h"

namespace lowtide::budget_internal {

// A bound from one milestone, for graphs of any size. Each ancestor that is read after the milestone is kept, or runs
// again. The cheapest choice per byte fills the budget, and the last output may be kept in part (Dantzig's bound of the
// knapsack problem). Unlike a linear program, it does not count what a rerun itself reads. The proof is a single case.
// Returns nullopt if the milestone forces no rerun. O(nodes log nodes + reads).
[[nodiscard]] std::optional<PhaseBound> knapsack_bound(const RunProblem& problem, RunProblem::Index milestone,
                                                       std::int64_t& work);

}  // namespace lowtide::budget_internal
