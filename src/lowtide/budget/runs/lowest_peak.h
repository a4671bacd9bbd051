// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "lowtide/budget/problem/run_problem.h"
#include "lowtide/budget/runs/floor_search.h"

namespace lowtide::budget_internal {

// What a search for the lowest peak begins with.
struct LowestPeakStart {
  const Runs& order;  // along which runs are evicted
  const Runs& runs;   // a valid sequence
};

// Looks for the sequence with the lowest peak, if nothing keeps the budget: sequences of checkpointing, and eviction
// along the order, with budgets between the bound of the floor search and the peak of `start.runs`, by bisection. Then
// annealing towards such budgets, as far as the work allows. If the peak is the bound of the floor search, it is the
// lowest one of all. Reruns for which there is space below the peak are removed. Returns `start.runs` if nothing is
// lower. More work never gives a higher peak. Requires: no group has an entry twice. `stop`: when set, ends the
// annealing; nullptr: never. Subtracts what it does from `work`.
[[nodiscard]] Runs find_lowest_peak(const RunProblem& problem, const FloorSearch& floor, const LowestPeakStart& start,
                                    std::int64_t& work, const std::atomic<bool>* stop = nullptr);

}  // namespace lowtide::budget_internal
