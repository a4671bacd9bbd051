// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/evict.h"

#include <gtest/gtest.h>

#include "lowtide/budget/phases/knapsack_bound.h"
#include "lowtide/budget/rematerialize.h"
#include "lowtide/budget/runs/load_scan.h"
#include "lowtide/budget/runs/pruned_scan.h"
#include "lowtide/budget/runs/retain.h"
#include "lowtide/verify/check_budget.h"
#include "tests/budget/budget_problems.h"
#include "tests/campaign.h"

namespace lowtide::budget_internal {
namespace {

Runs in_order(const RunProblem& problem) {
  Runs order(problem.count());
  for (RunProblem::Index node = 0; node < problem.count(); ++node) order[node] = node;
  return order;
}

constexpr std::int64_t kMuch = 1'000'000'000;

FloorSearch floor_of(const RunProblem& problem) {
  std::int64_t work = kMuch;
  return {problem, in_order(problem), work};
}

TEST(FloorSearch, EqualsBruteForceOnRandomProblems) {
  Random random(21);
  int obstructed = 0;  // the floor is above what each node needs alone
  for (int trial = 0; trial < 1000; ++trial) {
    BudgetProblem problem = random_problem(random, 7);
    const RunProblem plain(problem);
    const FloorSearch floor = floor_of(plain);
    EXPECT_TRUE(floor.is_reached());
    problem.budget = Bytes(floor.bound());
    EXPECT_TRUE(least_cost_by_sweeps(problem)) << "trial " << trial;
    if (floor.bound() == 0) continue;
    problem.budget = Bytes(floor.bound() - 1);
    EXPECT_FALSE(least_cost_by_sweeps(problem)) << "trial " << trial;
    ASSERT_TRUE(floor.proof());
    EXPECT_TRUE(check_infeasible(problem, *floor.proof())) << "trial " << trial;
    obstructed += floor.proof()->node && !floor.proof()->sets.empty() ? 1 : 0;
  }
  EXPECT_GT(obstructed, 5);
}

TEST(Evict, KeepsEveryBudgetFromTheFloorOn) {
  Random random(22);
  int reached = 0;
  for (int trial = 0; trial < testing::sampled(300); ++trial) {
    BudgetProblem problem = random_problem(random, 24);
    const RunProblem any(problem);
    const FloorSearch floor = floor_of(any);
    if (!floor.is_reached()) continue;  // dense graphs have too many sets
    ++reached;
    for (std::int64_t above : {0, 1, 5, 20}) {
      problem.budget = Bytes(floor.bound() + above);
      const RunProblem plain(problem);
      std::int64_t work = kMuch;
      const FloorSearch here = floor_of(plain);
      const std::optional<Runs> runs = evict_along(plain, in_order(plain), {}, here, work);
      ASSERT_TRUE(runs) << "trial " << trial << ", " << above << " above the floor";
      const Loads loads = LoadScan(plain).scan(*runs);
      EXPECT_TRUE(loads.is_valid);
      EXPECT_LE(loads.peak, plain.budget);
    }
  }
  EXPECT_GT(reached, testing::sampled(200));
}

// The cheapest of the sequences by eviction costs little more than the optimum, and removing reruns never costs more.
TEST(Evict, IsNearTheOptimumOnSmallProblems) {
  Random random(23);
  std::int64_t optimum = 0;
  std::int64_t found = 0;
  std::int64_t base = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const BudgetProblem problem = random_problem(random, 7);
    const std::optional<std::int64_t> least = least_cost_by_sweeps(problem);
    if (!least) continue;
    const RunProblem plain(problem);
    std::int64_t best = kMaxTotalCost;
    for (bool uses_distance : {true, false}) {
      std::int64_t work = kMuch;
      const auto runs = evict_along(plain, in_order(plain), {.chain_quarters = 1, .uses_distance = uses_distance},
                                    floor_of(plain), work);
      ASSERT_TRUE(runs);
      LoadScan scan(plain);
      const Loads kept = scan.scan(retain_outputs(plain, *runs, work));
      EXPECT_LE(kept.cost, scan.scan(*runs).cost);
      EXPECT_LE(kept.peak, plain.budget);
      EXPECT_GE(kept.cost, *least);
      best = std::min(best, kept.cost);
    }
    optimum += *least;
    found += best;
    base += plain.base_cost;
  }
  EXPECT_GT(optimum, base);
  EXPECT_LT(found, optimum + optimum / 20);  // the order stays as given
}

TEST(Evict, IsOptimalOnAChainWithHalfOfTheBytes) {
  // The problem is that of IsOptimalOnLongChains: with 60 of 81 bytes, 11 of 40 forward nodes must run again.
  const RunProblem problem(training_chain(40, 60));
  std::int64_t work = kMuch;
  const auto runs = evict_along(problem, in_order(problem), {}, floor_of(problem), work);
  ASSERT_TRUE(runs);
  EXPECT_EQ(LoadScan(problem).scan(retain_outputs(problem, *runs, work)).cost, 40 * 3 + 40 * 4 + 11 * 3);
}

TEST(Evict, HonoursScratchAndNodesThatRunOnce) {
  Random random(25);
  int found = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const BudgetProblem problem = random_problem_with_extras(random, 7);
    const std::optional<std::int64_t> least = least_cost_by_sweeps(problem);
    const RunProblem plain(problem);
    const FloorSearch floor = floor_of(plain);
    if (least) {
      EXPECT_LE(floor.bound(), plain.budget) << "trial " << trial;
    }
    std::int64_t work = kMuch;
    const auto runs = evict_along(plain, in_order(plain), {}, floor, work);
    if (!runs) continue;
    const Loads loads = LoadScan(plain).scan(retain_outputs(plain, *runs, work));
    EXPECT_TRUE(loads.is_valid && loads.peak <= plain.budget) << "trial " << trial;
    ASSERT_TRUE(least);
    EXPECT_GE(loads.cost, *least);
    const std::optional<PhaseBound> bound =
        knapsack_bound(plain, static_cast<RunProblem::Index>(plain.count() / 2), work);
    if (bound) {
      EXPECT_LE(plain.base_cost + bound->extra, *least) << "trial " << trial;
    }
    ++found;
  }
  EXPECT_GT(found, 300);
}

TEST(Retain, RemovesARerunForWhichThereIsSpace) {
  const RunProblem problem(budget_problem(10, {{.size = 2}, {.size = 3, .reads = {0}}, {.size = 1, .reads = {0, 1}}}));
  std::int64_t work = kMuch;
  EXPECT_EQ(retain_outputs(problem, {0, 1, 0, 2}, work), (Runs{0, 1, 2}));
}

TEST(KnapsackBound, IsConfirmedAndNeverAboveTheOptimum) {
  Random random(24);
  int raised = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const BudgetProblem problem = random_problem(random, 7);
    const std::optional<std::int64_t> least = least_cost_by_sweeps(problem);
    if (!least) continue;
    const RunProblem plain(problem);
    for (RunProblem::Index node = 0; node < plain.count(); ++node) {
      std::int64_t work = kMuch;
      const std::optional<PhaseBound> bound = knapsack_bound(plain, node, work);
      if (!bound) continue;
      EXPECT_LE(plain.base_cost + bound->extra, *least) << "trial " << trial;
      const CostBoundCheck check = check_cost_bound(problem, bound->proof);
      EXPECT_FALSE(check.problem) << *check.problem;
      EXPECT_EQ(check.proven, plain.base_cost + bound->extra) << "trial " << trial;
      raised += bound->extra > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(raised, 50);
}

TEST(Rematerialize, KeepsBudgetsOfLargeGraphs) {
  // Without reruns, the peak is 2 * 10,000 + 1. Half of it holds 4,999 forward outputs beside the first gradient, so
  // 5,001 nodes of cost 3 must run again.
  constexpr std::int64_t kDepth = 10'000;
  const BudgetProblem problem = training_chain(kDepth, 10'000);
  std::vector<NodeId> order = order_by_number(problem);
  const BudgetAnswer answer = rematerialize(problem, order, {.effort = kMuch});
  ASSERT_EQ(answer.outcome, BudgetOutcome::found);
  EXPECT_TRUE(check_budget_runs(problem, answer).empty());
  EXPECT_EQ(answer.base_cost, kDepth * 7);
  EXPECT_GE(answer.cost_bound, kDepth * 7 + 15'000);
  ASSERT_TRUE(answer.proof);
  EXPECT_GE(check_cost_bound(problem, *answer.proof).proven, answer.cost_bound);
  EXPECT_LE(answer.cost, kDepth * 7 + 15'100);
}

}  // namespace
}  // namespace lowtide::budget_internal
