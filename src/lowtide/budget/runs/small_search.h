// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/budget/problem/run_problem.h"

namespace lowtide::budget_internal {

struct SmallAnswer {
  bool is_complete = false;  // the search looked at everything that matters
  std::optional<Runs> runs;  // the cheapest sequence that keeps the budget; absent if none does
};

// Finds the cheapest sequence that keeps the budget, or that there is none. A state is the set of runs that have
// happened for the first time and the set of entries that are live. Dijkstra's search goes through the states by the
// cost of their reruns. In each state, a live entry may be dropped for nothing, and a node whose inputs are live may
// run, if it fits and no rule forbids it. The places of a node in a group are runs of their own, and a seed is an entry
// that a first run may make. A problem of n nodes has at most 3^n states. Returns an answer that is not complete if
// there are more than `most_states`, or more than 32 runs, or more than 32 entries and seeds. A state takes about 0.2
// us and 60 bytes.
[[nodiscard]] SmallAnswer search_small(const RunProblem& problem, std::int64_t most_states);

}  // namespace lowtide::budget_internal
