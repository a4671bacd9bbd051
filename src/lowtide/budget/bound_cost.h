// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/plan/budget_problem.h"

namespace lowtide {

struct ProvenCost {
  std::int64_t cost = 0;  // no sequence that keeps the budget costs less; above the cost of one run of each node
  CostProof proof;
};

// Looks for a bound of the cost of all sequences that keep the budget, without looking for a sequence. The milestones
// are among the first runs of `runs` that have the most live bytes, the most first. None of them begins outside. A
// bound of `enough` or more ends the search. Returns nullopt if nothing above the cost of one run of each node is
// proven. Requires: `runs` is a valid sequence; it may exceed the budget. `effort`: as RematerializeOptions::effort.
[[nodiscard]] std::optional<ProvenCost> bound_cost(const BudgetProblem& problem, const std::vector<NodeId>& runs,
                                                   std::int64_t enough, std::int64_t effort);

}  // namespace lowtide
