// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/plan/budget_problem.h"
#include "lowtide/plan/cost_proof.h"
#include "lowtide/verify/violation.h"

// Checks of answers to budget problems: the sequence of runs, the bound of its cost, and the proof that no sequence
// keeps the budget. They share data types with `rematerialize` and no code.
namespace lowtide {

// Replays the runs of an answer, and follows the content of all bytes. Reports
//   - a node that does not exist or never runs; a part, a view or a state among the runs;
//   - a run that reads an output that does not exist yet, or bytes that another run has overwritten;
//   - a second run of a node that runs once, a run after one that it must precede, a group with another sequence;
//   - an output that is overwritten at the end;
//   - a cost or a peak that is not that of the runs, and a run above the budget if the outcome is `found`;
//   - a bound above the cost or below that of one run of each node.
// It stops at the first run that cannot be replayed. An empty list means that the answer is correct. Requires:
// check_budget_problem() accepts the problem, also below. O(nodes + runs + reads and parts of runs).
[[nodiscard]] std::vector<Violation> check_budget_runs(const BudgetProblem& problem, const BudgetAnswer& answer,
                                                       const VerifyOptions& options = {});

struct CostBoundCheck {
  std::int64_t proven = 0;             // no sequence that keeps the budget costs less; 0 if the proof is malformed
  std::optional<std::string> problem;  // what is malformed: one terminal-safe line
};

// Recomputes the bound that a proof gives for the cost of all sequences that keep the budget, reruns included. Each row
// is derived from the graph, and sums are exact. The proof need not come from Lowtide. Seeds, edges `before` and groups
// count only where they say that a run comes before another one or never happens again, so a bound is also one without
// the rest. O(milestones x (nodes + reads) + rows x log rows + rows of `memory` x nodes).
[[nodiscard]] CostBoundCheck check_cost_bound(const BudgetProblem& problem, const CostProof& proof);

// Returns whether the proof shows that no sequence keeps the budget, not even one that breaks the rules of seeds, edges
// `before`, groups and overwritten bytes. O(sets^2 x nodes of a set), quadratic: 2,000 sets of 20 nodes take
// about 0.1 s. A proof with makers takes O(reads of makers x log nodes).
[[nodiscard]] bool check_infeasible(const BudgetProblem& problem, const InfeasibleProof& proof);

}  // namespace lowtide
