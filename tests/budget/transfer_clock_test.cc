// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/transfers/transfer_clock.h"

#include <gtest/gtest.h>

#include "tests/budget/swap_problems.h"

namespace lowtide::budget_internal {
namespace {

constexpr TransferDirection kOut = TransferDirection::out;
constexpr TransferDirection kIn = TransferDirection::in;

Item run_of(SwapProblem::Index node) { return {.node = node, .is_fetch = false}; }
Item fetch_of(SwapProblem::Index node) { return {.node = node, .is_fetch = true}; }

// a of 4 bytes, b of 1 which reads it, x of 3 and y of 3 which read b and x, d of 1 which reads a and y. Each takes
// 10 ns. Node 5 is the end.
BudgetProblem problem_of(std::int64_t budget) {
  return swap_problem(budget, {{.size = 4, .cost = 10},
                               {.size = 1, .cost = 10, .reads = {0}},
                               {.size = 3, .cost = 10, .reads = {1}},
                               {.size = 3, .cost = 10, .reads = {2}},
                               {.size = 1, .cost = 10, .reads = {0, 3}}});
}

struct Timed {
  std::int64_t time = 0;
  std::int64_t peak = 0;
  std::vector<Transfer> transfers;
};

Timed timed(std::int64_t budget, std::int64_t latency) {
  const BudgetProblem problem = problem_of(budget);
  const SwapProblem swaps(problem, link_of(4, latency));  // a moves in 1 ns and the latency
  ScannedSwaps scanned;
  EXPECT_TRUE(
      SwapScan(swaps).scan({run_of(0), run_of(1), run_of(2), run_of(3), fetch_of(0), run_of(4), run_of(5)}, scanned));
  TransferClock clock(swaps);
  const std::int64_t time = clock.time(scanned);
  return {.time = time, .peak = clock.peak(scanned), .transfers = clock.transfers(scanned)};
}

// Shortest stays: a; a, b; b, x; x, y; a, y, d: 4, 5, 4, 6, 8 bytes. With 8 bytes, a could stay while x runs.
TEST(TransferClock, MovesWhileOtherRunsTakeTheirTime) {
  const Timed found = timed(8, 4);
  // a leaves from 10 to 15, while b runs, and comes back after y begins only: x, y and a are 10 bytes.
  EXPECT_EQ(found.transfers,
            (std::vector<Transfer>{{.run = 0, .direction = kOut, .issue = 0, .complete = 2, .begin = 10, .end = 15},
                                   {.run = 0, .direction = kIn, .issue = 3, .complete = 4, .begin = 40, .end = 45}}));
  EXPECT_EQ(found.time, 55);
  EXPECT_EQ(found.peak, 8);
}

TEST(TransferClock, ComesBackEarlierIfBytesAreFree) {
  const Timed found = timed(10, 4);
  // x, y and a fit, so that a comes back while y runs.
  ASSERT_EQ(found.transfers.size(), 2);
  EXPECT_EQ(found.transfers[1].issue, 2);
  EXPECT_EQ(found.transfers[1].complete, 4);
  EXPECT_EQ(found.time, 50);
  EXPECT_EQ(found.peak, 10);
}

TEST(TransferClock, WaitsForBytesThatAreNeeded) {
  // a takes 16 ns out. With 8 bytes, it may be on its way while x runs (a, b, x are 8), so y does not wait either.
  EXPECT_EQ(timed(8, 15).time, 30 + 10 + 16 + 10);
  EXPECT_EQ(timed(8, 15).transfers[0].complete, 3);
  // With 26 ns, y waits from 30 to 36, and d from 46 to 72.
  EXPECT_EQ(timed(8, 25).time, 36 + 10 + 26 + 10);
}

}  // namespace
}  // namespace lowtide::budget_internal
