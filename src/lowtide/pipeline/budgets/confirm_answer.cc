// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/budgets/confirm_answer.h"

#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/verify/check_budget.h"

namespace lowtide::pipeline_internal {

void confirm_answer(const BudgetProblem& problem, const BudgetAnswer& answer) {
  const std::vector<Violation> violations = check_budget_runs(problem, answer);
  LOWTIDE_CHECK(violations.empty(), "the verifier accepts every sequence of runs");
  if (answer.bound_kind == CostBoundKind::milestones) {
    LOWTIDE_CHECK(answer.proof.has_value(), "a bound from milestones has a proof");
    const CostBoundCheck check = check_cost_bound(problem, *answer.proof);
    LOWTIDE_CHECK(!check.problem && check.proven >= answer.cost_bound, "the verifier confirms the bound of the cost");
  }
  if (answer.outcome == BudgetOutcome::infeasible) {
    LOWTIDE_CHECK(answer.obstruction && check_infeasible(problem, *answer.obstruction),
                  "the verifier confirms that no sequence keeps the budget");
  }
}

}  // namespace lowtide::pipeline_internal
