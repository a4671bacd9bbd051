// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "lowtide/verify/check_budget.h"

// Sequences of problems with parts, views, states, updates, seeds, edges `before` and groups.
namespace lowtide {
namespace {

using StepProblem = BudgetProblem;
using RunNumbers = std::vector<std::uint32_t>;
using testing::HasSubstr;

// An answer that claims the costs and the peak of these runs.
BudgetAnswer claimed_answer(const BudgetProblem& problem, const RunNumbers& runs, std::int64_t peak) {
  BudgetAnswer answer{.outcome = BudgetOutcome::found};
  for (const BudgetNode& node : problem.nodes) answer.base_cost += node.cost;
  for (std::uint32_t node : runs) {
    answer.runs.emplace_back(node);
    answer.cost += node < problem.nodes.size() ? problem.nodes[NodeId(node)].cost : 0;
  }
  answer.cost_bound = answer.base_cost;
  answer.peak = Bytes(peak);
  return answer;
}

// The first violation: "clobbered: run 3 ...", or "accepted".
std::string verdict_of_runs(const BudgetProblem& problem, const RunNumbers& runs, std::int64_t peak) {
  EXPECT_TRUE(check_budget_problem(problem).ok());
  const std::vector<Violation> found = check_budget_runs(problem, claimed_answer(problem, runs, peak));
  return found.empty() ? "accepted" : std::string(to_string(found[0].kind)) + ": " + found[0].message;
}

// 0 'a' (6 bytes) with part 1 'm' (1 byte); 2 'b' reads a and has 3 bytes; 3 'c' reads b and m and has 2.
StepProblem problem_with_part() {
  StepProblem problem{.nodes = {}, .budget = Bytes(100)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(6), .cost = 5});
  problem.nodes.push_back({.reads = {}, .size = Bytes(1), .part_of = NodeId(0)});
  problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(3), .cost = 2});
  problem.nodes.push_back({.reads = {NodeId(1), NodeId(2)}, .size = Bytes(2), .cost = 1});
  return problem;
}

TEST(CheckSteps, APartHasItsOwnLife) {
  EXPECT_EQ(verdict_of_runs(problem_with_part(), {0, 2, 3}, 10), "accepted");  // a m | a m b | m b c
  StepProblem alone = problem_with_part();
  alone.nodes[NodeId(3)].reads = {NodeId(2)};
  EXPECT_EQ(verdict_of_runs(alone, {0, 2, 3}, 9), "accepted");  // a m | a b | b c: m dies with its run
  alone.nodes[NodeId(1)].is_output = true;
  EXPECT_EQ(verdict_of_runs(alone, {0, 2, 3}, 10), "accepted");
}

TEST(CheckSteps, APartIsMadeWithItsRun) {
  EXPECT_EQ(verdict_of_runs(problem_with_part(), {0, 2, 0, 3}, 10), "accepted");  // a m | a b | b a m | m b c
  EXPECT_EQ(verdict_of_runs(problem_with_part(), {0, 2, 1, 3}, 10),
            "malformed: run 2 is of node 1, which is a part of node 0 and never made alone");
}

// The same, and b reads a view of a.
TEST(CheckSteps, AViewKeepsTheBytesThatItNames) {
  StepProblem problem = problem_with_part();
  const NodeId view = problem.nodes.push_back({.reads = {}, .size = Bytes(0), .view_of = NodeId(0)});
  const NodeId next = problem.nodes.push_back({.reads = {}, .size = Bytes(0), .view_of = view});
  problem.nodes[NodeId(2)].reads = {next};
  EXPECT_EQ(verdict_of_runs(problem, {0, 2, 3}, 10), "accepted");
  EXPECT_EQ(verdict_of_runs(problem, {2, 0, 3}, 10), "data_flow: run 0 of node 2 reads node 5, which has not run yet");
  EXPECT_EQ(verdict_of_runs(problem, {0, 4, 2, 3}, 10),
            "malformed: run 1 is of node 4, which is a view of node 0 and never runs");
  problem.nodes[next].is_output = true;  // a is live to the end, once
  EXPECT_EQ(verdict_of_runs(problem, {0, 2, 3}, 6 + 1 + 3 + 2), "accepted");
  problem.nodes[NodeId(0)].is_output = true;
  EXPECT_EQ(verdict_of_runs(problem, {0, 2, 3}, 6 + 1 + 3 + 2), "accepted");
}

// state 0 'w' (8 bytes) -> 1 'f' (4) -> 2 'g' (8), which reads w, too -> 3 'u' overwrites w.  4 'n' reads the new w.
StepProblem training_step() {
  StepProblem problem{.nodes = {}, .budget = Bytes(100)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(8), .is_state = true});
  problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(4), .cost = 3});
  problem.nodes.push_back({.reads = {NodeId(0), NodeId(1)}, .size = Bytes(8), .cost = 4});
  problem.nodes.push_back({.reads = {NodeId(0), NodeId(2)}, .size = Bytes(0), .cost = 1, .overwrites = NodeId(0)});
  problem.nodes.push_back({.reads = {NodeId(3)}, .size = Bytes(1), .cost = 1, .is_output = true});
  return problem;
}

TEST(CheckSteps, BytesOfStatesAreAlwaysLive) {
  EXPECT_EQ(verdict_of_runs(training_step(), {1, 2, 3, 4}, 20), "accepted");  // w f | w f g | w g | w n
  EXPECT_EQ(verdict_of_runs(training_step(), {1, 2, 3, 4}, 12),
            "wrong_claim: the claimed peak is 12, but the runs give 20");
  StepProblem only = {.nodes = {}, .budget = Bytes(7)};
  only.nodes.push_back({.reads = {}, .size = Bytes(8), .is_state = true});
  EXPECT_EQ(verdict_of_runs(only, {}, 8), "out_of_region: the end has 8 live bytes, and the budget is 7");
  EXPECT_EQ(verdict_of_runs(training_step(), {0, 1, 2, 3, 4}, 20),
            "malformed: run 0 is of node 0, which is a state and never runs");
}

TEST(CheckSteps, NoReaderRunsAgainAfterTheUpdate) {
  EXPECT_EQ(verdict_of_runs(training_step(), {1, 2, 1, 3, 4}, 20), "accepted");
  EXPECT_EQ(verdict_of_runs(training_step(), {1, 2, 3, 1, 4}, 20),
            "clobbered: run 3 of node 1 reads node 0, whose bytes run 2 of node 3 has overwritten");
  EXPECT_EQ(verdict_of_runs(training_step(), {1, 2, 3, 3, 4}, 20),
            "clobbered: run 3 of node 3 reads node 0, whose bytes run 2 of node 3 has overwritten");
  StepProblem problem = training_step();  // f reads the state through a view
  problem.nodes.push_back({.reads = {}, .size = Bytes(0), .view_of = NodeId(0)});
  problem.nodes[NodeId(1)].reads = {NodeId(5)};
  EXPECT_THAT(verdict_of_runs(problem, {1, 2, 3, 1, 4}, 20),
              HasSubstr("clobbered: run 3 of node 1 reads node 5, whose bytes"));
}

TEST(CheckSteps, ASecondUpdateOverwritesTheFirst) {
  StepProblem problem = training_step();
  problem.nodes.push_back({.reads = {NodeId(3)}, .size = Bytes(0), .cost = 1, .overwrites = NodeId(3)});
  EXPECT_EQ(verdict_of_runs(problem, {1, 2, 3, 4, 5}, 20), "accepted");
  EXPECT_EQ(verdict_of_runs(problem, {1, 2, 3, 5, 4}, 20),
            "clobbered: run 4 of node 4 reads node 3, whose bytes run 3 of node 5 has overwritten");
}

// 0 'a' (4) -> 1 'b' (2); 2 'w' reads b and overwrites a; 3 'c' reads w.
StepProblem overwriting_problem() {
  StepProblem problem{.nodes = {}, .budget = Bytes(100)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(4), .cost = 5});
  problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(2), .cost = 2});
  problem.nodes.push_back(
      {.reads = {NodeId(0), NodeId(1)}, .size = Bytes(4), .cost = 1, .extra = Bytes(-4), .overwrites = NodeId(0)});
  problem.nodes.push_back({.reads = {NodeId(2)}, .size = Bytes(1), .cost = 1});
  return problem;
}

TEST(CheckSteps, OverwrittenBytesAreMadeAgainForTheNextRun) {
  EXPECT_EQ(verdict_of_runs(overwriting_problem(), {0, 1, 2, 3}, 6), "accepted");  // a | a b | a b w - 4 | w c
  EXPECT_EQ(verdict_of_runs(overwriting_problem(), {0, 1, 2, 3, 0, 2, 3}, 7),
            "accepted");  // ... | b w c | b a | a b w - 4 | w c
  EXPECT_EQ(verdict_of_runs(overwriting_problem(), {0, 1, 2, 2, 3}, 6),
            "clobbered: run 3 of node 2 reads node 0, whose bytes run 2 of node 2 has overwritten");
  EXPECT_EQ(verdict_of_runs(overwriting_problem(), {0, 1, 2, 1, 3}, 6),
            "clobbered: run 3 of node 1 reads node 0, whose bytes run 2 of node 2 has overwritten");
  EXPECT_EQ(verdict_of_runs(overwriting_problem(), {0, 1, 2, 0, 1, 2, 3}, 6),
            "data_flow: run 4 of node 1 reads node 0, and must come before run 2 of node 2, which overwrites it");
}

TEST(CheckSteps, AnOutputIsNotOverwrittenAtTheEnd) {
  StepProblem problem = overwriting_problem();
  problem.nodes[NodeId(0)].is_output = true;
  EXPECT_FALSE(check_budget_problem(problem).ok());
  const std::vector<Violation> found = check_budget_runs(problem, claimed_answer(problem, {0, 1, 2, 3}, 6));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message, "run 2 of node 2 has overwritten the bytes of node 0, which is an output");
}

TEST(CheckSteps, EveryRunOfAReaderComesBeforeTheWriter) {
  StepProblem problem = problem_with_part();
  problem.before = {{.reader = NodeId(0), .writer = NodeId(3)}};
  EXPECT_EQ(verdict_of_runs(problem, {0, 2, 0, 3}, 10), "accepted");
  EXPECT_EQ(verdict_of_runs(problem, {0, 2, 3, 0}, 10), "data_flow: run 3 of node 0 must come before run 2 of node 3");
  EXPECT_EQ(verdict_of_runs(problem, {0, 2, 3, 3}, 10), "accepted");
}

TEST(CheckSteps, ASeedLivesFromTheFirstRunToTheLast) {
  StepProblem problem = problem_with_part();
  problem.nodes[NodeId(0)].seed = Bytes(5);
  EXPECT_EQ(verdict_of_runs(problem, {0, 2, 3}, 10), "accepted");     // it runs once
  EXPECT_EQ(verdict_of_runs(problem, {0, 2, 0, 3}, 15), "accepted");  // a m 5 | a b 5 | b a m 5 | m b c
  EXPECT_EQ(verdict_of_runs(problem, {0, 2, 0, 3}, 10), "wrong_claim: the claimed peak is 10, but the runs give 15");
  EXPECT_EQ(verdict_of_runs(problem, {0, 2, 3, 0}, 15), "accepted");
}

TEST(CheckSteps, ScratchIsLiveDuringItsRun) {
  StepProblem problem = problem_with_part();
  problem.nodes[NodeId(0)].extra = Bytes(4);
  EXPECT_EQ(verdict_of_runs(problem, {0, 2, 3}, 11), "accepted");
}

TEST(CheckSteps, AGroupKeepsItsSequence) {
  StepProblem problem = problem_with_part();
  problem.groups = {{NodeId(0), NodeId(2), NodeId(0)}};
  EXPECT_EQ(verdict_of_runs(problem, {0, 2, 0, 3}, 10), "accepted");
  EXPECT_EQ(verdict_of_runs(problem, {0, 2, 3}, 10),
            "data_flow: the runs of group 0 are not its agreed sequence: at place 2, they go on with none, and it goes "
            "on with 0");
  EXPECT_EQ(verdict_of_runs(problem, {0, 0, 2, 3}, 10),
            "data_flow: the runs of group 0 are not its agreed sequence: at place 1, they go on with 0 2, and it goes "
            "on with 2 0");
}

}  // namespace
}  // namespace lowtide
