// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/transfers/swap_scan.h"

#include <gtest/gtest.h>

#include "tests/budget/swap_problems.h"

namespace lowtide::budget_internal {
namespace {

Item run(SwapProblem::Index node) { return {.node = node, .is_fetch = false}; }
Item fetch(SwapProblem::Index node) { return {.node = node, .is_fetch = true}; }

// a of 4 bytes -> b of 2 -> c of 5 -> d of 1, a -> d. Node 4 is the end.
BudgetProblem chain() {
  return swap_problem(10, {{.size = 4, .cost = 3},
                           {.size = 2, .cost = 2, .reads = {0}},
                           {.size = 5, .cost = 4, .reads = {1}},
                           {.size = 1, .cost = 1, .reads = {0, 2}}});
}

ScannedSwaps scanned(const BudgetProblem& problem, const Items& items) {
  const SwapProblem swaps(problem, link_of(1));
  ScannedSwaps result;
  EXPECT_TRUE(SwapScan(swaps).scan(items, result));
  return result;
}

TEST(SwapScan, CountsBytesWithoutFetches) {
  const ScannedSwaps swaps = scanned(chain(), {run(0), run(1), run(2), run(3), run(4)});
  EXPECT_EQ(swaps.loads, (std::vector<std::int64_t>{4, 6, 11, 10, 0}));  // a, b and c are 11 bytes
  EXPECT_EQ(swaps.peak_at, 2);
  EXPECT_EQ(swaps.excess, 1);
  EXPECT_TRUE(swaps.absences.empty());
}

TEST(SwapScan, CountsTheShortestStays) {
  const ScannedSwaps swaps = scanned(chain(), {run(0), run(1), fetch(0), run(2), run(3), run(4)});
  EXPECT_EQ(swaps.items, (Items{run(0), run(1), run(2), fetch(0), run(3), run(4)}));  // before its reader
  EXPECT_EQ(swaps.loads, (std::vector<std::int64_t>{4, 6, 7, 10, 0}));
  ASSERT_EQ(swaps.absences.size(), 1);
  EXPECT_EQ(swaps.absences[0].made, 0);
  EXPECT_EQ(swaps.absences[0].before, 1);
  EXPECT_EQ(swaps.absences[0].after, 3);
}

TEST(SwapScan, LeavesOutFetchesWithoutARunBetween) {
  // b reads a right after it, so a stays.
  const ScannedSwaps swaps = scanned(chain(), {run(0), fetch(0), run(1), run(2), run(3), run(4)});
  EXPECT_TRUE(swaps.absences.empty());
  EXPECT_EQ(swaps.items, (Items{run(0), run(1), run(2), run(3), run(4)}));
  EXPECT_EQ(swaps.loads, (std::vector<std::int64_t>{4, 6, 11, 10, 0}));
}

TEST(SwapScan, LeavesOutRunsThatNothingNeeds) {
  // The second run of b is for nothing, and so is the fetch of a for it. The fetch then belongs to d.
  const ScannedSwaps swaps = scanned(chain(), {run(0), run(1), run(2), fetch(0), run(1), run(3), run(4)});
  EXPECT_EQ(swaps.items, (Items{run(0), run(1), run(2), fetch(0), run(3), run(4)}));
  EXPECT_EQ(swaps.loads, (std::vector<std::int64_t>{4, 6, 7, 10, 0}));
}

TEST(SwapScan, LeavesOutFetchesOfNodesThatRunAgain) {
  const ScannedSwaps swaps = scanned(chain(), {run(0), run(1), run(2), fetch(0), run(0), run(3), run(4)});
  EXPECT_EQ(swaps.items, (Items{run(0), run(1), run(2), run(0), run(3), run(4)}));
  EXPECT_EQ(swaps.loads, (std::vector<std::int64_t>{4, 6, 7, 9, 10, 0}));
}

TEST(SwapScan, RefusesRunsWithoutInputs) {
  const BudgetProblem problem = chain();
  const SwapProblem swaps(problem, link_of(1));
  ScannedSwaps result;
  SwapScan scan(swaps);
  EXPECT_FALSE(scan.scan({run(1), run(0), run(2), run(3), run(4)}, result));
  EXPECT_TRUE(scan.scan({run(0), run(1), run(2), run(3), run(4)}, result));  // nothing is left of the first scan
  EXPECT_EQ(result.loads, (std::vector<std::int64_t>{4, 6, 11, 10, 0}));
}

}  // namespace
}  // namespace lowtide::budget_internal
