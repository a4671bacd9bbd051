// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/rematerialize/runs/anneal.h"

#include <gtest/gtest.h>

#include "lowtide/rematerialize/runs/pruned_scan.h"
#include "tests/rematerialize/budget_problems.h"

namespace lowtide::rematerialize_internal {
namespace {

Runs by_number(const RunProblem& problem) {
  Runs order(problem.count());
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

TEST(PrunedScan, LeavesOutRunsThatNothingNeeds) {
  const RunProblem problem(training_chain(3, 7));
  PrunedScan scan(problem);
  ScannedRuns result;
  // The second f1 is not read, so the second f0 is not read either.
  ASSERT_TRUE(scan.scan({0, 1, 2, 3, 4, 0, 1, 5, 0}, result));
  EXPECT_EQ(result.runs, (Runs{0, 1, 2, 3, 4, 0, 5}));
  EXPECT_EQ(result.cost, 3 * 3 + 3 * 4 + 3);
  EXPECT_EQ(result.last_use, (std::vector<std::uint32_t>{1, 4, 3, 4, 6, 6, 6}));
  EXPECT_EQ(result.loads, (std::vector<std::int64_t>{2, 4, 4, 5, 4, 3, 4}));
  EXPECT_FALSE(scan.scan({1, 0, 2, 3, 4, 5}, result));  // f1 before f0
}

// Reruns may be left out, and otherwise both scans count the same.
TEST(PrunedScan, AgreesWithTheFullScan) {
  Random random(5);
  int valid = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const RunProblem problem(random_problem(random, 7));
    Runs runs = by_number(problem);
    for (int more = 0; more < 4; ++more) {
      runs.insert(runs.begin() + static_cast<std::ptrdiff_t>(random.below(runs.size() + 1)),
                  static_cast<RunProblem::Index>(random.below(problem.count())));
    }
    ScannedRuns result;
    if (!PrunedScan(problem).scan(runs, result)) continue;
    ++valid;
    LoadScan scan(problem);
    std::vector<std::int64_t> loads;
    const Loads counted = scan.scan(result.runs, &loads);
    EXPECT_TRUE(counted.is_valid);
    EXPECT_EQ(loads, result.loads);
    EXPECT_EQ(counted.cost, result.cost);
    EXPECT_EQ(counted.peak, result.peak);
    EXPECT_EQ(counted.excess, result.excess);
    EXPECT_LE(result.peak, scan.scan(runs).peak);
  }
  EXPECT_GT(valid, 100);
}

TEST(Annealing, FindsTheLeastCostOfSmallProblems) {
  Random random(6);
  int found = 0;
  int optimal = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const BudgetProblem given = random_problem(random, 7);
    const std::optional<std::int64_t> least = least_cost_by_sweeps(given);
    const RunProblem problem(given);
    Annealing annealing(problem, 1);
    std::int64_t work = 3'000'000;
    annealing.cool(by_number(problem), 0.5, 0, work);
    const Annealed& answer = annealing.found();
    EXPECT_TRUE(LoadScan(problem).scan(answer.lowest).is_valid);
    if (!answer.best) continue;
    ASSERT_TRUE(least);
    EXPECT_GE(answer.best_cost, *least);
    ++found;
    optimal += answer.best_cost == *least ? 1 : 0;
  }
  EXPECT_GT(found, 25);
  EXPECT_GE(optimal, found * 9 / 10);
}

}  // namespace
}  // namespace lowtide::rematerialize_internal
