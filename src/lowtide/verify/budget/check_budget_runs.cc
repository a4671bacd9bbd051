// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>

#include "lowtide/base/checked.h"
#include "lowtide/verify/budget/run_replay.h"
#include "lowtide/verify/check_budget.h"

namespace lowtide {
namespace verify_internal {
namespace {

void check_claims(const BudgetProblem& problem, const BudgetAnswer& answer, const RunReplay& replay,
                  Findings& findings) {
  const auto wrong = [&](const std::string& message) {
    findings.add({.kind = ViolationKind::wrong_claim, .message = message});
  };
  const auto compare = [&](const std::string& name, std::int64_t claimed, std::int64_t counted) {
    if (claimed != counted) {
      wrong("the claimed " + name + " is " + std::to_string(claimed) + ", but the runs give " +
            std::to_string(counted));
    }
  };
  std::int64_t base = 0;
  for (const BudgetNode& node : problem.nodes) base = must_add(base, node.cost);
  const std::vector<Bytes> loads = replay.loads();
  const Bytes peak = *std::max_element(loads.begin(), loads.end());
  compare("cost", answer.cost, replay.cost());
  compare("base cost", answer.base_cost, base);
  compare("peak", answer.peak.count(), peak.count());
  if (answer.cost_bound < base) wrong("the bound of the cost is below the cost of one run of each node");
  if (answer.outcome != BudgetOutcome::found) return;
  if (answer.cost_bound > replay.cost()) wrong("the bound of the cost is above the cost");
  for (std::size_t at = 0; at < loads.size(); ++at) {
    if (loads[at] <= problem.budget) continue;
    findings.add(ViolationKind::out_of_region, (at < answer.runs.size() ? replay.run_name(at) : "the end") + " has " +
                                                   std::to_string(loads[at].count()) +
                                                   " live bytes, and the budget is " +
                                                   std::to_string(problem.budget.count()));
  }
}

}  // namespace
}  // namespace verify_internal

std::vector<Violation> check_budget_runs(const BudgetProblem& problem, const BudgetAnswer& answer,
                                         const VerifyOptions& options) {
  verify_internal::Findings findings(options);
  verify_internal::RunReplay replay(problem, answer.runs, findings);
  if (replay.replay()) verify_internal::check_claims(problem, answer, replay, findings);
  return std::move(findings).take();
}

}  // namespace lowtide
