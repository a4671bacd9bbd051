// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/rematerialize.h"

#include <gtest/gtest.h>

#include "lowtide/budget/runs/load_scan.h"
#include "lowtide/verify/check_budget.h"
#include "tests/budget/budget_problems.h"

namespace lowtide {
namespace {

// Answers, and checks the answer and its proofs.
BudgetAnswer answer_of(const BudgetProblem& problem, std::int64_t effort = 100'000'000) {
  BudgetAnswer answer = rematerialize(problem, order_by_number(problem), {.effort = effort});
  for (const Violation& violation : check_budget_runs(problem, answer)) ADD_FAILURE() << violation.message;
  if (answer.proof) {
    const CostBoundCheck check = check_cost_bound(problem, *answer.proof);
    EXPECT_FALSE(check.problem) << *check.problem;
    EXPECT_LE(check.proven, answer.cost_bound);
  }
  EXPECT_EQ(answer.outcome == BudgetOutcome::infeasible, answer.obstruction.has_value());
  if (answer.obstruction) {
    EXPECT_TRUE(check_infeasible(problem, *answer.obstruction));
  }
  return answer;
}

TEST(Rematerialize, KeepsTheOrderIfItFits) {
  const BudgetProblem problem = training_chain(3, 7);  // f0 f1 f2 b2
  const BudgetAnswer answer = answer_of(problem);
  EXPECT_EQ(answer.outcome, BudgetOutcome::found);
  EXPECT_EQ(answer.runs, order_by_number(problem));
  EXPECT_TRUE(answer.is_optimal());
  EXPECT_FALSE(answer.proof);
}

TEST(Rematerialize, ProvesThatNothingFits) {
  // f1 needs f0 and itself: 4 bytes.
  const BudgetAnswer answer = answer_of(training_chain(3, 3));
  EXPECT_EQ(answer.outcome, BudgetOutcome::infeasible);
  ASSERT_TRUE(answer.obstruction);
  EXPECT_TRUE(answer.obstruction->sets.empty());
}

TEST(Rematerialize, ProvesObstructionsBeyondOneNode) {
  // c reads a and b, 1 byte each. Both are made from x, of 4 bytes. Whichever is made last, the other is live: 1 + 4 +
  // 1. The node that needs most alone is a or b: 4 + 1.
  const std::vector<TestNode> nodes = {
      {.size = 4}, {.size = 1, .reads = {0}}, {.size = 1, .reads = {0}}, {.size = 1, .reads = {1, 2}}};
  EXPECT_EQ(answer_of(budget_problem(5, nodes)).outcome, BudgetOutcome::infeasible);
  EXPECT_EQ(answer_of(budget_problem(6, nodes)).outcome, BudgetOutcome::found);
}

TEST(Rematerialize, OutputsTogetherMayNotFit) {
  const std::vector<TestNode> nodes = {{.size = 3, .is_output = true}, {.size = 3, .is_output = true}};
  const BudgetAnswer answer = answer_of(budget_problem(5, nodes));
  EXPECT_EQ(answer.outcome, BudgetOutcome::infeasible);
  EXPECT_FALSE(answer.obstruction->node);
}

TEST(Rematerialize, ReturnsTheLowestPeakIfNothingFits) {
  // Without reruns, the peak is 40 * 2 + 1. No sequence keeps less than f(k - 1), f(k) and b(k + 1): 5 bytes.
  const BudgetProblem problem = training_chain(40, 4);
  const BudgetAnswer answer = answer_of(problem);
  EXPECT_EQ(answer.outcome, BudgetOutcome::infeasible);
  EXPECT_EQ(answer.peak, Bytes(5));
  EXPECT_EQ(bound_budgets(problem, order_by_number(problem)).bytes, Bytes(5));
}

// A lowest peak gets half the effort. A cooling needs 25,000 units per node, so 52,000 suffice for one and 48,000 do
// not. With a part kept back for a floor that the search of the budget knows already, neither would.
TEST(Rematerialize, SpendsNothingOnAFloorThatIsKnown) {
  Random random(59);
  BudgetProblem problem = random_problem_with_extras(random, 70);
  problem.budget = Bytes(12);
  const auto count = static_cast<std::int64_t>(problem.nodes.size());
  const BudgetAnswer without_cooling = answer_of(problem, 48'000 * count);
  const BudgetAnswer with_cooling = answer_of(problem, 52'000 * count);
  EXPECT_EQ(with_cooling.outcome, BudgetOutcome::infeasible);
  EXPECT_LT(with_cooling.peak, without_cooling.peak);
}

// A chain f0 to f(depth - 1) of 2 bytes each, and gradients b(depth - 1) to b0 of 1 byte, which are all outputs. b(k)
// reads f(k) and b(k + 1).
BudgetProblem chain_with_kept_gradients(std::uint32_t depth, std::int64_t budget) {
  std::vector<TestNode> nodes = {{.size = 2}};
  for (std::uint32_t at = 1; at < depth; ++at) nodes.push_back({.size = 2, .reads = {at - 1}});
  nodes.push_back({.size = 1, .reads = {depth - 1}, .is_output = true});
  for (std::uint32_t at = depth + 1; at < 2 * depth; ++at) {
    nodes.push_back({.size = 1, .reads = {2 * depth - 1 - at, at - 1}, .is_output = true});
  }
  return budget_problem(budget, nodes);
}

TEST(Rematerialize, FindsTheLowestPeakIfOutputsDoNotFit) {
  // The 20 outputs exceed the budget. Without reruns, the peak is 20 * 2 + 1. b0 runs beside b1 to b19 and f0: 22.
  const BudgetAnswer answer = answer_of(chain_with_kept_gradients(20, 10));
  EXPECT_EQ(answer.outcome, BudgetOutcome::infeasible);
  EXPECT_EQ(answer.peak, Bytes(22));
}

TEST(Rematerialize, BoundsBudgetsByOutputsWithoutEffort) {
  const BudgetProblem problem = chain_with_kept_gradients(20, 10);
  const BudgetFloor floor = bound_budgets(problem, order_by_number(problem), {.effort = 0});
  EXPECT_EQ(floor.bytes, Bytes(22));  // whichever gradient comes last: the other 19, itself, and the f that it reads
  ASSERT_TRUE(floor.proof);
  EXPECT_EQ(floor.proof->makers.size(), 20);
  BudgetProblem below = problem;
  below.budget = Bytes(21);
  EXPECT_TRUE(check_infeasible(below, *floor.proof));
  below.budget = Bytes(22);
  EXPECT_FALSE(check_infeasible(below, *floor.proof));
}

TEST(Rematerialize, TheLastOfTheOutputsNeedsTheOthers) {
  // a -> f, g, h, which are outputs of 5 bytes. f and g take 20 more bytes, and h takes nothing. If f or g is last of
  // these two: 10 + 5 + 20 beside the 5 of the other. h could be last with 10 + 3 * 5, which would weaken the bound.
  BudgetProblem problem = budget_problem(39, {{.size = 10},
                                              {.size = 5, .reads = {0}, .is_output = true},
                                              {.size = 5, .reads = {0}, .is_output = true},
                                              {.size = 5, .reads = {0}, .is_output = true}});
  problem.nodes[NodeId(1)].extra = problem.nodes[NodeId(2)].extra = Bytes(20);
  const BudgetAnswer answer = answer_of(problem);
  ASSERT_EQ(answer.outcome, BudgetOutcome::infeasible);
  EXPECT_EQ(answer.obstruction->makers, (std::vector<NodeId>{NodeId(1), NodeId(2)}));
  problem.budget = Bytes(40);
  EXPECT_EQ(answer_of(problem).outcome, BudgetOutcome::found);
}

// Checkpointing of a chain that turns after `depth` nodes: all but the last of the segments run again, except their
// last nodes.
std::vector<NodeId> checkpointed_chain(std::uint32_t depth, std::uint32_t length) {
  std::vector<NodeId> runs;
  for (std::uint32_t at = 0; at < depth; ++at) runs.emplace_back(at);
  for (std::uint32_t at = depth; at-- > 0;) {
    const bool is_last_of_segment = (at + 1) % length == 0;
    const bool is_in_last_segment = at / length == (depth - 1) / length;
    const bool restores = !is_in_last_segment && (at + 2) % length == 0;
    for (std::uint32_t again = at / length * length; restores && !is_last_of_segment && again <= at; ++again) {
      runs.emplace_back(again);
    }
    runs.emplace_back(depth + depth - 1 - at);
  }
  return runs;
}

// At the peak of checkpointing, no answer is slower.
TEST(Rematerialize, IsNeverSlowerThanCheckpointingOfAChain) {
  for (std::uint32_t length : {4, 7, 10}) {
    BudgetProblem problem = training_chain(60, 0);
    const budget_internal::RunProblem plain(problem);
    budget_internal::Runs runs;
    for (NodeId run : checkpointed_chain(60, length)) runs.push_back(run.value());
    const budget_internal::Loads loads = budget_internal::LoadScan(plain).scan(runs);
    ASSERT_TRUE(loads.is_valid);
    EXPECT_GT(loads.cost, plain.base_cost);
    problem.budget = Bytes(loads.peak);
    const BudgetAnswer answer = answer_of(problem, 5'000'000);
    ASSERT_EQ(answer.outcome, BudgetOutcome::found) << length;
    EXPECT_LE(answer.cost, loads.cost) << length;
  }
}

// A U-net: levels of four nodes go down, and up again with what the same level made on the way down. Each node has a
// backward node. Every level is a segment of checkpointing: its inner nodes run again, right before its backward nodes.
TEST(Rematerialize, IsNeverSlowerThanCheckpointingOfAUNet) {
  constexpr std::uint32_t kLevels = 4;
  constexpr std::uint32_t kForward = 2 * kLevels * 4;
  std::vector<TestNode> nodes;
  std::vector<std::uint32_t> across(kForward, kForward);  // what an upward level reads of a downward one
  for (std::uint32_t at = 0; at < kForward; ++at) {
    const std::uint32_t level = at / 4 < kLevels ? at / 4 : 2 * kLevels - 1 - at / 4;
    TestNode node{.size = 64 >> level, .cost = 10 + (at % 4)};
    if (at > 0) node.reads = {at - 1};
    if (at / 4 > kLevels && at % 4 == 0) {
      across[at] = level * 4 + 3;
      node.reads.insert(node.reads.begin(), across[at]);
    }
    nodes.push_back(node);
  }
  for (std::uint32_t at = kForward; at-- > 0;) {
    TestNode node{.size = nodes[at].size, .cost = 20, .reads = nodes[at].reads};
    node.reads.push_back(at);
    if (at + 1 < kForward) node.reads.push_back(static_cast<std::uint32_t>(nodes.size()) - 1);
    nodes.push_back(node);
  }
  BudgetProblem problem = budget_problem(0, nodes);
  budget_internal::Runs runs;
  for (std::uint32_t at = 0; at < kForward; ++at) runs.push_back(at);
  for (std::uint32_t at = kForward; at-- > 0;) {
    const bool is_last_segment = at / 4 + 1 == kForward / 4;
    for (std::uint32_t again = at - at % 4; at % 4 == 3 && !is_last_segment && again < at; ++again) {
      runs.push_back(again);
    }
    runs.push_back(2 * kForward - 1 - at);
  }
  const budget_internal::RunProblem plain(problem);
  const budget_internal::Loads loads = budget_internal::LoadScan(plain).scan(runs);
  ASSERT_TRUE(loads.is_valid);
  problem.budget = Bytes(loads.peak);
  const BudgetAnswer answer = answer_of(problem, 5'000'000);
  ASSERT_EQ(answer.outcome, BudgetOutcome::found);
  EXPECT_LT(answer.cost, loads.cost);
}

TEST(Rematerialize, EqualsBruteForceOnRandomProblems) {
  Random random(11);
  int reruns = 0;
  int infeasible = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const BudgetProblem problem = random_problem(random, trial < 50 ? 8 : 7);
    const std::optional<std::int64_t> least = least_cost_by_sweeps(problem);
    const BudgetAnswer answer = answer_of(problem);
    ASSERT_EQ(answer.outcome, least ? BudgetOutcome::found : BudgetOutcome::infeasible) << "trial " << trial;
    if (!least) {
      ++infeasible;
      continue;
    }
    EXPECT_EQ(answer.cost, *least) << "trial " << trial;
    EXPECT_TRUE(answer.is_optimal()) << "trial " << trial;
    reruns += answer.cost > answer.base_cost ? 1 : 0;
  }
  EXPECT_GT(reruns, 50);
  EXPECT_GT(infeasible, 50);
}

TEST(Rematerialize, EqualsBruteForceWithExtrasAndNodesThatRunOnce) {
  Random random(12);
  int reruns = 0;
  int infeasible = 0;
  int undecided = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const BudgetProblem problem = random_problem_with_extras(random, 7);
    const std::optional<std::int64_t> least = least_cost_by_sweeps(problem);
    const BudgetAnswer answer = answer_of(problem);
    if (!least) {
      // A proof allows reruns of every node, so it may not exist.
      ASSERT_NE(answer.outcome, BudgetOutcome::found) << "trial " << trial;
      ++(answer.outcome == BudgetOutcome::infeasible ? infeasible : undecided);
      continue;
    }
    ASSERT_EQ(answer.outcome, BudgetOutcome::found) << "trial " << trial;
    EXPECT_EQ(answer.cost, *least) << "trial " << trial;
    EXPECT_TRUE(answer.is_optimal()) << "trial " << trial;
    reruns += answer.cost > answer.base_cost ? 1 : 0;
  }
  EXPECT_GT(reruns, 20);
  EXPECT_GT(infeasible, 50);
  EXPECT_LT(undecided, infeasible / 4);
}

// b is written over a, and both are outputs. A run of b has 4 live bytes, but after it there are 8.
TEST(Rematerialize, OutputsExistTogetherAtTheEnd) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(7)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(4), .cost = 5, .is_output = true});
  problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(4), .cost = 5, .is_output = true, .extra = Bytes(-4)});
  const BudgetAnswer none = answer_of(problem);
  EXPECT_EQ(none.outcome, BudgetOutcome::infeasible);
  EXPECT_EQ(none.peak, Bytes(8));
  problem.budget = Bytes(8);
  EXPECT_EQ(answer_of(problem).outcome, BudgetOutcome::found);
}

TEST(Rematerialize, ANodeThatRunsOnceIsKept) {
  // With 60 bytes, 11 forward nodes run again (see IsOptimalOnLongChains), but not the first ten.
  BudgetProblem problem = training_chain(40, 60);
  for (std::uint32_t at = 0; at < 10; ++at) problem.nodes[NodeId(at)].runs_once = true;
  const BudgetAnswer answer = answer_of(problem);
  EXPECT_EQ(answer.outcome, BudgetOutcome::found);
  EXPECT_EQ(answer.cost, 40 * 3 + 40 * 4 + 11 * 3);
  EXPECT_TRUE(answer.is_optimal());
}

TEST(Rematerialize, CountsWhatARunTakesBesideItsOutput) {
  // b2 has 3 bytes of scratch: f0 f1 f2 b2 and 3, 10 bytes. With 8, f0 must run again for 3.
  BudgetProblem problem = training_chain(3, 10);
  problem.nodes[NodeId(3)].extra = Bytes(3);
  EXPECT_EQ(answer_of(problem).cost, 9 + 12);
  problem.budget = Bytes(8);
  EXPECT_EQ(answer_of(problem).cost, 9 + 12 + 3);
  // If it writes over f2, it takes nothing more: f0 f1 f2.
  problem.nodes[NodeId(3)].extra = Bytes(-1);
  problem.budget = Bytes(6);
  EXPECT_EQ(answer_of(problem).cost, 9 + 12);
}

TEST(Rematerialize, IsOptimalOnLongChains) {
  // Without reruns, the peak is 40 * 2 + 1. With 60 bytes, 11 forward nodes must run again.
  const BudgetAnswer answer = answer_of(training_chain(40, 60));
  EXPECT_EQ(answer.outcome, BudgetOutcome::found);
  EXPECT_TRUE(answer.is_optimal());
  EXPECT_EQ(answer.cost, 40 * 3 + 40 * 4 + 11 * 3);
  ASSERT_TRUE(answer.proof);
  EXPECT_EQ(check_cost_bound(training_chain(40, 60), *answer.proof).proven, answer.cost);
}

TEST(Rematerialize, LessMemoryNeverCostsLess) {
  std::int64_t last = 0;
  for (std::int64_t budget = 26; budget >= 8; budget -= 3) {
    const BudgetAnswer answer = answer_of(training_chain(13, budget));
    ASSERT_EQ(answer.outcome, BudgetOutcome::found) << budget;
    EXPECT_GE(answer.cost, last) << budget;
    last = answer.cost;
  }
}

TEST(Rematerialize, MoreEffortIsNeverWorse) {
  Random random(13);
  int cheaper = 0;
  int tighter = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const BudgetProblem problem = random_problem(random, 40);
    BudgetAnswer last = answer_of(problem, 0);
    for (std::int64_t effort : {1'000'000, 2'300'000, 5'000'000, 9'000'000, 16'000'000}) {
      BudgetAnswer answer = answer_of(problem, effort);
      EXPECT_GE(answer.cost_bound, last.cost_bound) << "trial " << trial << " effort " << effort;
      if (last.outcome == BudgetOutcome::infeasible) {
        EXPECT_EQ(answer.outcome, BudgetOutcome::infeasible);
      }
      if (last.outcome == BudgetOutcome::found) {
        EXPECT_EQ(answer.outcome, BudgetOutcome::found);
        EXPECT_LE(answer.cost, last.cost) << "trial " << trial << " effort " << effort;
        cheaper += answer.cost < last.cost ? 1 : 0;
      }
      tighter += answer.cost_bound > last.cost_bound ? 1 : 0;
      last = std::move(answer);
    }
  }
  EXPECT_GE(cheaper, 1);  // most have the least cost with the first effort
  EXPECT_GT(tighter, 1);
}

TEST(Rematerialize, GivesTheSameAnswerTwice) {
  const BudgetProblem problem = training_chain(24, 16);
  const BudgetAnswer first = answer_of(problem, 30'000'000);
  const BudgetAnswer second = answer_of(problem, 30'000'000);
  EXPECT_EQ(first.runs, second.runs);
  EXPECT_EQ(first.cost_bound, second.cost_bound);
}

TEST(Rematerialize, WithoutEffortReturnsTheGivenOrder) {
  const BudgetProblem problem = training_chain(12, 12);
  const BudgetAnswer answer = answer_of(problem, 0);
  EXPECT_EQ(answer.outcome, BudgetOutcome::not_found);
  EXPECT_EQ(answer.runs, order_by_number(problem));
}

TEST(Rematerialize, AProblemWithoutNodesIsSolved) {
  EXPECT_EQ(answer_of({.nodes = {}, .budget = Bytes(0)}).outcome, BudgetOutcome::found);
}

}  // namespace
}  // namespace lowtide
