// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/budget/problem/run_problem.h"
#include "lowtide/plan/cost_proof.h"

namespace lowtide::budget_internal {

// The sequence that makes first runs in the order, and keeps at each milestone only the outputs in `keeps`. A node runs
// again right before a run needs it, or before the next milestone that keeps it. Requires: the milestones ascend in the
// order.
[[nodiscard]] Runs runs_of(const RunProblem& problem, const Runs& order, const Runs& milestones,
                           const std::vector<std::vector<char>>& keeps);

struct PhasePlans {
  std::optional<Runs> best;  // the cheapest sequence found that keeps the budget
  std::vector<Runs> tried;   // all sequences, the last one first; they may exceed the budget
  Runs milestones;           // of the last plan
};

// Plans reruns for an order. Memory is limited at few milestones first, because few of them matter: most often the
// turn from forward to backward. Where the sequence still exceeds the budget, the next first run becomes a milestone.
// `stop`: when set, ends the search; nullptr: never.
[[nodiscard]] PhasePlans plan_phases(const RunProblem& problem, const Runs& order, std::int64_t& work,
                                     const std::atomic<bool>* stop = nullptr);

// The best bound of the cost of reruns over all sequences, from some of the given milestones, in any order. `limit`: a
// cost that was found. Returns nullopt if nothing above 0 is proven.
struct PhaseBound {
  std::int64_t extra = 0;
  CostProof proof;
};
[[nodiscard]] std::optional<PhaseBound> bound_phases(const RunProblem& problem, const Runs& milestones,
                                                     std::int64_t limit, std::int64_t& work,
                                                     const std::atomic<bool>* stop = nullptr);

}  // namespace lowtide::budget_internal
