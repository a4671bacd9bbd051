// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lowtide/plan/budget_problem.h"

namespace lowtide {

struct RematerializeOptions {
  // Work units that the searches may spend, about 1 ns each. With 0, the answer is the given order, with the bounds
  // that follow from it. An answer is never worse with more effort.
  std::int64_t effort = 10'000'000'000;
  const std::atomic<bool>* stop = nullptr;  // when set, ends the search with the best answer so far; nullptr: never
  // Called when a better sequence or bound is found, if present. `runs` of the answer is not filled in.
  std::function<void(const BudgetAnswer&)> on_improvement = {};
};

// Finds a sequence of runs that keeps the budget at a low cost, and a bound of the cost of all such sequences
// (docs/algorithms/rematerialization.md). `order` has each run entry once. Where it breaks a rule of the problem, runs
// move. A good order needs fewer reruns, so it should have a low peak.
//
// The answer says `infeasible` only with a proof. The bound has a proof unless it is the cost of one run of each node,
// or a complete search of a small problem gave it. The same problem, order and effort give the same answer on every
// machine. If groups repeat entries, it may know no sequence that has all their runs. Then it has no runs, and the
// outcome is `not_found` or, with a proof, `infeasible`. Requires: the order is complete, and the problem is as its
// comments say (plan/budget_problem.h).
// Memory: O(nodes + reads + runs), and up to 256 MiB for the linear programs.
[[nodiscard]] BudgetAnswer rematerialize(const BudgetProblem& problem, const std::vector<NodeId>& order,
                                         const RematerializeOptions& options = {});

// A lower bound of all budgets that some sequence keeps.
struct BudgetFloor {
  Bytes bytes;
  std::optional<InfeasibleProof> proof;  // that no sequence keeps a budget of one byte less; absent if `bytes` is 0
};

// Searches backwards from each node for the sequence of runs that needs least (docs/algorithms/rematerialization.md). A
// sequence that keeps a budget of `bytes` exists if the search was complete and every node may run again. The budget of
// the problem has no effect. Requires: as above.
[[nodiscard]] BudgetFloor bound_budgets(const BudgetProblem& problem, const std::vector<NodeId>& order,
                                        const RematerializeOptions& options = {});

}  // namespace lowtide
