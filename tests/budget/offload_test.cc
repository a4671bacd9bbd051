// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/offload.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lowtide/budget/bound_cost.h"
#include "lowtide/verify/check_transfers.h"
#include "tests/budget/least_time.h"
#include "tests/budget/swap_problems.h"
#include "tests/campaign.h"

namespace lowtide {
namespace {

constexpr std::int64_t kEffort = 5'000'000;

SwapAnswer solved(const BudgetProblem& problem, const TransferLink& link, std::int64_t effort = kEffort) {
  SwapAnswer answer = offload(problem, link, {order_of(problem)}, {.effort = effort});
  for (const Violation& violation : check_transfers(problem, link, answer)) ADD_FAILURE() << violation.message;
  return answer;
}

std::size_t count(const SwapAnswer& answer, TransferDirection direction) {
  std::size_t sum = 0;
  for (const Transfer& transfer : answer.transfers) sum += transfer.direction == direction ? 1 : 0;
  return sum;
}

// Three nodes of 4 bytes forward, each 3 ns, three of 1 byte back, each 4 ns. All of f0, f1, f2 and b2 are 13 bytes.
TEST(Offload, MovesNothingIfEverythingFits) {
  const SwapAnswer answer = solved(swap_training(3, 13), link_of(1));
  EXPECT_EQ(answer.outcome, BudgetOutcome::found);
  EXPECT_TRUE(answer.is_optimal());
  EXPECT_EQ(answer.time, 3 * 3 + 3 * 4);
  EXPECT_TRUE(answer.transfers.empty());
}

// With 10 bytes, f0 must be gone while f2 runs, when f0, f1 and f2 would be 12. It exists at 3, and f2 begins at 6, so
// 2 bytes per ns move it out for nothing. While b1 runs from 13 to 17, f1, b0 and b1 leave 4 bytes for it to come back.
TEST(Offload, MovesForNothingWhatFitsTheIdleLink) {
  const SwapAnswer answer = solved(swap_training(3, 10), link_of(2));
  EXPECT_TRUE(answer.is_optimal());
  EXPECT_EQ(answer.runs.size(), 6);
  EXPECT_EQ(count(answer, TransferDirection::out), 1);
  EXPECT_EQ(count(answer, TransferDirection::in), 1);
}

// A link that takes 1 us for 4 bytes is slower than a rerun of 3 ns.
TEST(Offload, RunsAgainWhatIsSlowToMove) {
  const SwapAnswer answer = solved(swap_training(3, 9), link_of(4, 1000));
  EXPECT_EQ(answer.time, 21 + 3);
  EXPECT_TRUE(answer.transfers.empty());
  EXPECT_EQ(answer.runs.size(), 7);
}

// a of 50 ns and b of 1 ns, both of 4 bytes, are read by d and by g. Between them, c of 8 bytes needs all of the
// budget. a leaves from 50 to 54, so c runs 2 ns later than it could. It is back 4 ns after e, while b runs again.
TEST(Offload, RunsAgainTheCheapAndMovesTheDear) {
  const BudgetProblem problem = swap_problem(9, {{.size = 4, .cost = 50},
                                                 {.size = 4, .cost = 1},
                                                 {.size = 1, .cost = 1, .reads = {0, 1}},
                                                 {.size = 8, .cost = 10, .reads = {2}},
                                                 {.size = 1, .cost = 1, .reads = {3}},
                                                 {.size = 0, .cost = 1, .reads = {0, 1, 4}}});
  const SwapAnswer answer = solved(problem, link_of(1));
  EXPECT_EQ(answer.time, 64 + 2 + 4);
  EXPECT_EQ(answer.stall_time, 2 + 3);  // b runs in 1 of the 4
  EXPECT_EQ(answer.transfers.size(), 2);
  EXPECT_EQ(std::count(answer.runs.begin(), answer.runs.end(), NodeId(1)), 2);
  EXPECT_EQ(LeastTime(problem, link_of(1)).search(300'000), answer.time);
}

TEST(Offload, SaysWhichNodeIsTooLarge) {
  const BudgetProblem problem = swap_training(3, 4);  // f1 needs f0 and itself
  const SwapAnswer answer = solved(problem, link_of(1));
  EXPECT_EQ(answer.outcome, BudgetOutcome::infeasible);
  EXPECT_EQ(answer.obstruction, NodeId(1));
  EXPECT_TRUE(check_too_large(problem, answer.obstruction));
  EXPECT_FALSE(check_too_large(problem, NodeId(0)));
  EXPECT_FALSE(check_too_large(problem, std::nullopt));
}

TEST(Offload, SaysIfTheOutputsAreTooLarge) {
  const BudgetProblem problem = swap_problem(5, {{.size = 3, .is_output = true}, {.size = 3, .is_output = true}});
  const SwapAnswer answer = solved(problem, link_of(1));
  EXPECT_EQ(answer.outcome, BudgetOutcome::infeasible);
  EXPECT_EQ(answer.obstruction, std::nullopt);
  EXPECT_TRUE(check_too_large(problem, std::nullopt));
}

// a and b are outputs, and c of 5 bytes reads a, so b does not fit beside them. c reads a after all, so b may run last.
TEST(Offload, ChangesTheOrderBeforeItMoves) {
  const BudgetProblem problem = swap_problem(8, {{.size = 3, .cost = 10, .is_output = true},
                                                 {.size = 3, .cost = 1, .is_output = true},
                                                 {.size = 5, .cost = 1, .reads = {0}}});
  const SwapAnswer answer = solved(problem, link_of(1));
  EXPECT_EQ(answer.time, 12);
  EXPECT_TRUE(answer.transfers.empty());
}

// b reads a, and c of 6 bytes reads b. The output a must be back at the end.
TEST(Offload, BringsOutputsBackForTheEnd) {
  const BudgetProblem problem = swap_problem(7, {{.size = 3, .cost = 10, .is_output = true},
                                                 {.size = 1, .cost = 1, .reads = {0}},
                                                 {.size = 6, .cost = 5, .reads = {1}}});
  // a leaves from 10 to 13, c runs from 13 to 18, and a is back at 21. A rerun would take 10 after 17.
  const SwapAnswer answer = solved(problem, link_of(1));
  EXPECT_EQ(answer.time, 21);
  EXPECT_EQ(answer.transfers.size(), 2);
  EXPECT_EQ(answer.transfers.back().complete, 3);
}

// a is read by r1, r2 and r3. Between them, x1 and x2 of 5 bytes need all of the budget.
//
//   a  r1 | x1 y1 | r2 | x2 y2 | r3      a leaves before x1 (3 ns late) and comes back for r2 and r3 (4 ns each)
TEST(Offload, CopiesAnOutputOutOnce) {
  const BudgetProblem problem = swap_problem(6, {{.size = 4, .cost = 90},
                                                 {.size = 1, .cost = 1, .reads = {0}},
                                                 {.size = 5, .cost = 9, .reads = {1}},
                                                 {.size = 1, .cost = 1, .reads = {2}},
                                                 {.size = 1, .cost = 1, .reads = {0, 3}},
                                                 {.size = 5, .cost = 9, .reads = {4}},
                                                 {.size = 1, .cost = 1, .reads = {5}},
                                                 {.size = 1, .cost = 1, .reads = {0, 6}}});
  const SwapAnswer answer = solved(problem, link_of(1));
  EXPECT_EQ(answer.time, 113 + 3 + 4 + 4);
  EXPECT_EQ(count(answer, TransferDirection::out), 1);
  EXPECT_EQ(count(answer, TransferDirection::in), 2);
}

TEST(Offload, FindsASequenceWithoutEffortIfTheWorkingSetsFit) {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const BudgetProblem problem = random_swap_problem(random, 12);
    ASSERT_EQ(solved(problem, random_link(random), 0).outcome, BudgetOutcome::found);
  }
}

TEST(Offload, MoreOfTheSameSearchIsNeverWorse) {
  Random random(14);
  int faster = 0;
  for (int round = 0; round < 60; ++round) {
    const BudgetProblem problem = random_swap_problem(random, 16);
    const TransferLink link = random_link(random);
    std::int64_t last = kMaxTime;
    for (std::int64_t effort : {0, 50'000, 200'000, 600'000, 1'500'000, 3'000'000}) {
      const SwapAnswer answer =
          offload(problem, link, {order_of(problem)}, {.effort = effort, .length = 3'000'000, .seed = 5});
      ASSERT_EQ(answer.outcome, BudgetOutcome::found);
      EXPECT_LE(answer.time, last) << "round " << round << " effort " << effort;
      faster += effort > 0 && answer.time < last ? 1 : 0;
      last = answer.time;
    }
  }
  EXPECT_GT(faster, 20);
}

TEST(Offload, GivesTheSameAnswerAgain) {
  const BudgetProblem problem = swap_training(6, 12);
  const SwapAnswer answer = solved(problem, link_of(1));
  EXPECT_EQ(solved(problem, link_of(1)).transfers, answer.transfers);
  EXPECT_EQ(solved(problem, link_of(1)).runs, answer.runs);
}

// Against the least time of all histories. Bounds come from budgets that are larger by any number of bytes.
TEST(Offload, IsNearTheLeastTimeOfAllSequences) {
  Random random(11);
  int compared = 0;
  int equal = 0;
  int bounds = 0;
  for (int round = 0; round < testing::sampled(140); ++round) {
    const BudgetProblem problem = random_swap_problem(random, round < 120 ? 6 : 8);
    const TransferLink link = random_link(random);
    const std::optional<std::int64_t> least = LeastTime(problem, link).search(300'000);
    if (!least) continue;
    const SwapAnswer answer = solved(problem, link);
    ASSERT_EQ(answer.outcome, BudgetOutcome::found);
    ASSERT_GE(answer.time, *least) << "round " << round;
    ++compared;
    equal += answer.time == *least ? 1 : 0;
    for (std::int64_t away = 0; away <= 8; ++away) {
      const BudgetProblem larger{.nodes = problem.nodes, .budget = problem.budget + Bytes(away)};
      std::optional<ProvenCost> proven = bound_cost(larger, order_of(problem), kMaxTotalCost, 2'000'000);
      if (!proven) continue;
      // The room and the verifier count the time of the link in different ways.
      const std::int64_t moved = least_time_away(problem, link, proven->proof, Bytes(away + 1));
      const std::int64_t kept = proven->cost * link.nanoseconds_per_cost;
      const TimeBoundCheck check =
          check_time_bound(problem, link, {.away = Bytes(away), .proof = std::move(proven->proof)});
      ASSERT_FALSE(check.problem) << *check.problem;
      ASSERT_EQ(check.proven, std::max(answer.base_time, std::min(kept, moved)));
      ASSERT_LE(check.proven, *least) << "round " << round << " away " << away;
      bounds += check.proven > answer.base_time ? 1 : 0;
    }
  }
  EXPECT_GE(compared, testing::sampled(80));
  EXPECT_GE(bounds, testing::sampled(10));
  EXPECT_GE(equal * 100, compared * 95) << equal << " of " << compared;
}

}  // namespace
}  // namespace lowtide
