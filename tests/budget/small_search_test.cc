// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/small_search.h"

#include <gtest/gtest.h>

#include "lowtide/budget/runs/load_scan.h"
#include "lowtide/verify/check_budget.h"
#include "tests/budget/budget_problems.h"

namespace lowtide::budget_internal {
namespace {

constexpr std::int64_t kStates = 1'000'000;

std::optional<std::int64_t> cost_of(const BudgetProblem& problem, const SmallAnswer& answer) {
  EXPECT_TRUE(answer.is_complete);
  if (!answer.runs) return std::nullopt;
  const RunProblem compact(problem);
  const Loads loads = LoadScan(compact).scan(*answer.runs);
  EXPECT_TRUE(loads.is_valid);
  EXPECT_LE(loads.peak, problem.budget.count());
  return loads.cost;
}

// Every sequence of up to 7 runs of 4 nodes, judged by the verifier.
std::optional<std::int64_t> least_cost_by_sequences(const BudgetProblem& problem, std::size_t most_runs) {
  std::optional<std::int64_t> best;
  const std::size_t count = problem.nodes.size();
  for (std::size_t length = count; length <= most_runs; ++length) {
    std::size_t sequences = 1;
    for (std::size_t at = 0; at < length; ++at) sequences *= count;
    for (std::size_t number = 0; number < sequences; ++number) {
      BudgetAnswer answer{.outcome = BudgetOutcome::found};
      std::size_t rest = number;
      for (std::size_t at = 0; at < length; ++at, rest /= count) {
        answer.runs.emplace_back(static_cast<std::uint32_t>(rest % count));
        answer.cost += problem.nodes[answer.runs.back()].cost;
      }
      if (best && answer.cost >= *best) continue;
      // The claims about costs and peak are not of interest here.
      bool is_good = true;
      for (const Violation& violation : check_budget_runs(problem, answer)) {
        is_good = is_good && violation.kind == ViolationKind::wrong_claim;
      }
      if (is_good) best = answer.cost;
    }
  }
  return best;
}

TEST(SmallSearch, RerunsTheCheapNodeOfAChain) {
  // Forward 3 * 3, backward 3 * 4. With 5 bytes, f0 is dropped while b2 runs (f1 + f2 + b2), and runs again.
  const BudgetProblem problem = training_chain(3, 5);
  EXPECT_EQ(cost_of(problem, search_small(RunProblem(problem), kStates)), 9 + 12 + 3);
  EXPECT_EQ(cost_of(training_chain(3, 7), search_small(RunProblem(training_chain(3, 7)), kStates)), 9 + 12);
}

TEST(SmallSearch, FindsThatNothingFits) {
  const BudgetProblem problem = training_chain(3, 3);
  const SmallAnswer answer = search_small(RunProblem(problem), kStates);
  EXPECT_TRUE(answer.is_complete);
  EXPECT_FALSE(answer.runs);
}

TEST(SmallSearch, StopsAtItsLimit) {
  EXPECT_FALSE(search_small(RunProblem(training_chain(4, 6)), 10).is_complete);
  EXPECT_FALSE(search_small(RunProblem(training_chain(17, 40)), 100).is_complete);
}

TEST(SmallSearch, EqualsAllSequencesOfFourNodes) {
  Random random(3);
  for (int trial = 0; trial < 40; ++trial) {
    const BudgetProblem problem = random_problem(random, 4);
    const std::optional<std::int64_t> least = least_cost_by_sequences(problem, 7);
    EXPECT_EQ(cost_of(problem, search_small(RunProblem(problem), kStates)), least) << "trial " << trial;
    EXPECT_EQ(least_cost_by_sweeps(problem), least) << "trial " << trial;
  }
}

TEST(SmallSearch, EqualsAllSequencesOfUpToEightNodes) {
  Random random(4);
  for (int trial = 0; trial < 150; ++trial) {
    const BudgetProblem problem = random_problem(random, trial < 20 ? 8 : 7);
    EXPECT_EQ(cost_of(problem, search_small(RunProblem(problem), kStates)), least_cost_by_sweeps(problem))
        << "trial " << trial;
  }
}

TEST(SmallSearch, CountsExtrasAndRunsSomeNodesOnce) {
  Random random(5);
  for (int trial = 0; trial < 40; ++trial) {
    const BudgetProblem problem = random_problem_with_extras(random, 4);
    const std::optional<std::int64_t> least = least_cost_by_sequences(problem, 7);
    EXPECT_EQ(cost_of(problem, search_small(RunProblem(problem), kStates)), least) << "trial " << trial;
    EXPECT_EQ(least_cost_by_sweeps(problem), least) << "trial " << trial;
  }
}

}  // namespace
}  // namespace lowtide::budget_internal
