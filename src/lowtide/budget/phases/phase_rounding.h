// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "lowtide/budget/problem/run_problem.h"

namespace lowtide::budget_internal {

// Plans for an order from the linear program of one milestone, the run with the most live bytes, without branching. In
// its solution, most outputs are kept there as a whole or not at all. Of the others, those with the largest shares stay
// as long as there is space. The first plan uses all the space. While a plan exceeds the budget elsewhere, the next one
// leaves free what is missing, and the last ones try to leave less.
//
// A plan is about as cheap as the bound of the milestone, but it may exceed the budget. So the first one is a start for
// annealing. Branching (plan_phases) needs equal nodes: with measured costs, which all differ, it may find no plan in
// the time that this takes for hundreds.
//
// Returns the sequences in the order in which they were made. `stop`: when set, ends the search; nullptr: never.
// Subtracts what it does from `work`.
[[nodiscard]] std::vector<Runs> round_phases(const RunProblem& problem, const Runs& order, std::int64_t& work,
                                             const std::atomic<bool>* stop = nullptr);

}  // namespace lowtide::budget_internal
