// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_budget.h"

#include <gtest/gtest.h>

namespace lowtide {
namespace {

// a -> b -> c, a -> c. Sizes 4, 2, 1; costs 5, 3, 2.
BudgetProblem triangle(std::int64_t budget) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(budget)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(4), .cost = 5});
  problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(2), .cost = 3});
  problem.nodes.push_back({.reads = {NodeId(0), NodeId(1)}, .size = Bytes(1), .cost = 2});
  return problem;
}

BudgetAnswer runs_of(const std::vector<std::uint32_t>& runs, std::int64_t cost, std::int64_t peak) {
  BudgetAnswer answer{.outcome = BudgetOutcome::found, .cost = cost, .base_cost = 10, .cost_bound = 10};
  for (std::uint32_t node : runs) answer.runs.emplace_back(node);
  answer.peak = Bytes(peak);
  return answer;
}

std::vector<std::string> budget_kinds(const BudgetProblem& problem, const BudgetAnswer& answer) {
  std::vector<std::string> result;
  for (const Violation& violation : check_budget_runs(problem, answer)) {
    result.emplace_back(to_string(violation.kind));
  }
  return result;
}

using Kinds = std::vector<std::string>;

TEST(CheckBudget, AcceptsRunsWithinTheBudget) {
  EXPECT_EQ(budget_kinds(triangle(7), runs_of({0, 1, 2}, 10, 7)), Kinds{});     // a + b + c
  EXPECT_EQ(budget_kinds(triangle(7), runs_of({0, 1, 0, 2}, 15, 7)), Kinds{});  // a again
}

TEST(CheckBudget, CountsWhatARunTakesBesideItsOutput) {
  BudgetProblem problem = triangle(20);
  problem.nodes[NodeId(2)].extra = Bytes(5);
  EXPECT_EQ(budget_kinds(problem, runs_of({0, 1, 2}, 10, 12)), Kinds{});  // a + b + c, and 5
  problem.nodes[NodeId(2)].extra = Bytes(-1);                             // c is written over an input
  EXPECT_EQ(budget_kinds(problem, runs_of({0, 1, 2}, 10, 6)), Kinds{});
}

TEST(CheckBudget, SomeNodesRunOnlyOnce) {
  BudgetProblem problem = triangle(7);
  problem.nodes[NodeId(0)].runs_once = true;
  EXPECT_EQ(budget_kinds(problem, runs_of({0, 1, 2}, 10, 7)), Kinds{});
  EXPECT_EQ(budget_kinds(problem, runs_of({0, 1, 0, 2}, 15, 7)), Kinds{"repeated_step"});
}

TEST(CheckBudget, OutputsLiveUntilTheEnd) {
  BudgetProblem problem = triangle(20);
  problem.nodes[NodeId(0)].is_output = true;
  problem.nodes.push_back({.reads = {}, .size = Bytes(9), .cost = 0});
  EXPECT_EQ(budget_kinds(problem, runs_of({0, 1, 2, 3}, 10, 13)), Kinds{});  // a + the last node
  EXPECT_EQ(budget_kinds(problem, runs_of({0, 1, 2, 3}, 10, 9)), Kinds{"wrong_claim"});
}

// b is written over a, and both are outputs: a run of b has 4 live bytes, and the end has 8.
BudgetProblem overwritten_output(std::int64_t budget) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(budget)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(4), .cost = 5, .is_output = true});
  problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(4), .cost = 5, .is_output = true, .extra = Bytes(-4)});
  return problem;
}

TEST(CheckBudget, CountsTheOutputsAfterTheLastRun) {
  EXPECT_EQ(budget_kinds(overwritten_output(8), runs_of({0, 1}, 10, 8)), Kinds{});
  EXPECT_EQ(budget_kinds(overwritten_output(8), runs_of({0, 1}, 10, 4)), Kinds{"wrong_claim"});
  EXPECT_EQ(budget_kinds(overwritten_output(7), runs_of({0, 1}, 10, 8)), Kinds{"out_of_region"});
}

TEST(CheckInfeasible, KnowsThatOutputsExistTogether) {
  const InfeasibleProof proof{.node = std::nullopt, .sets = {{NodeId(0), NodeId(1)}}};
  EXPECT_TRUE(check_infeasible(overwritten_output(7), proof));
  EXPECT_FALSE(check_infeasible(overwritten_output(8), proof));
}

TEST(CheckBudget, ReportsEveryKindOfDamage) {
  EXPECT_EQ(budget_kinds(triangle(6), runs_of({0, 1, 2}, 10, 7)), Kinds{"out_of_region"});
  EXPECT_EQ(budget_kinds(triangle(7), runs_of({0, 1}, 10, 7)), Kinds{"missing_step"});
  EXPECT_EQ(budget_kinds(triangle(7), runs_of({1, 0, 2}, 10, 7)), Kinds{"data_flow"});
  EXPECT_EQ(budget_kinds(triangle(7), runs_of({0, 1, 3}, 10, 7)), Kinds{"malformed"});
  EXPECT_EQ(budget_kinds(triangle(7), runs_of({0, 1, 2}, 11, 7)), Kinds{"wrong_claim"});
  EXPECT_EQ(budget_kinds(triangle(7), runs_of({0, 1, 2}, 10, 6)), Kinds{"wrong_claim"});
  BudgetAnswer answer = runs_of({0, 1, 2}, 10, 7);
  answer.cost_bound = 11;
  EXPECT_EQ(budget_kinds(triangle(7), answer), Kinds{"wrong_claim"});
  answer.cost_bound = 9;
  EXPECT_EQ(budget_kinds(triangle(7), answer), Kinds{"wrong_claim"});
  answer.cost_bound = 10;
  answer.base_cost = 9;
  EXPECT_EQ(budget_kinds(triangle(7), answer), Kinds{"wrong_claim"});
}

// f0 -> f1 -> b1 -> b0, and f0 -> b0. Sizes 4, 3, 2, 1; f0 costs 5. While b1 runs, f1 and b1 are live (5 bytes), so a
// budget of 8 does not hold f0 as well, and f0 runs again.
BudgetProblem small_training(std::int64_t budget) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(budget)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(4), .cost = 5});
  problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(3), .cost = 1});
  problem.nodes.push_back({.reads = {NodeId(1)}, .size = Bytes(2), .cost = 1});
  problem.nodes.push_back({.reads = {NodeId(0), NodeId(2)}, .size = Bytes(1), .cost = 1});
  return problem;
}

constexpr std::int64_t kOne = 1 << 10;  // a multiplier of 1 with shift 10

// keep(f0) + rerun(f0) >= 1, keep(f1) >= 1, and 4 keep(f0) + 3 keep(f1) + 2 <= budget. With 8: keep(f0) <= 3 / 4. With
// multipliers 5, 15 / 4 and 5 / 4: rerun(f0) costs at least 5 + 15 / 4 - 5 / 4 * 6 = 5 / 4, and so 2.
CostProof by_hand() {
  CostProof proof{.milestones = {NodeId(2)}, .cases = {}, .shift = 10};
  ProofCase leaf;
  leaf.rows = {{{.rule = PhaseRule::memory, .phase = 0, .node = {}, .reader = {}}, kOne * 5 / 4},
               {{.rule = PhaseRule::read, .phase = 0, .node = NodeId(1), .reader = {}}, kOne * 15 / 4},
               {{.rule = PhaseRule::need, .phase = 0, .node = NodeId(0), .reader = NodeId(3)}, kOne * 5}};
  proof.cases.push_back(leaf);
  return proof;
}

TEST(CheckCostBound, AddsUpRowsByHand) {
  EXPECT_EQ(check_cost_bound(small_training(8), by_hand()).proven, 8 + 2);
  EXPECT_EQ(check_cost_bound(small_training(9), by_hand()).proven, 8);  // keep(f0) may be 1
}

// Either keep(f0) is 1, which does not fit, or rerun(f0) is 1.
TEST(CheckCostBound, TakesTheLeastOfAllCases) {
  CostProof proof = by_hand();
  const ProofCase leaf = proof.cases[0];
  proof.cases[0] = {.sum = {{.phase = 0, .kind = PhaseKind::keep, .node = NodeId(0)}}, .at_most = 0, .cases = {1, 2}};
  ProofCase without = {};
  without.rows = {leaf.rows[2]};
  without.decisions = {{0, kOne * 5}};
  ProofCase with = {};
  with.rows = {{leaf.rows[0].first, kOne * 100}, {leaf.rows[1].first, kOne * 300}};
  with.decisions = {{0, kOne * 400}};
  proof.cases.push_back(without);
  proof.cases.push_back(with);
  EXPECT_EQ(check_cost_bound(small_training(8), proof).proven, 8 + 5);

  CostProof damaged = proof;
  damaged.cases[2].decisions.clear();  // nothing says that f0 is kept
  EXPECT_EQ(check_cost_bound(small_training(8), damaged).proven, 8);
  damaged = proof;
  damaged.cases[2].decisions.push_back(damaged.cases[2].decisions[0]);  // the same decision twice
  EXPECT_TRUE(check_cost_bound(small_training(8), damaged).problem);
  damaged = proof;
  damaged.cases[0].cases = {1, 1};  // one side has no case
  EXPECT_TRUE(check_cost_bound(small_training(8), damaged).problem);
  damaged = proof;
  damaged.cases.push_back(damaged.cases[1]);  // a case without a parent
  EXPECT_TRUE(check_cost_bound(small_training(8), damaged).problem);
}

TEST(CheckCostBound, RefusesRowsThatDoNotHold) {
  const auto is_refused = [](auto damage) {
    CostProof proof = by_hand();
    damage(proof);
    const CostBoundCheck check = check_cost_bound(small_training(8), proof);
    return check.problem.has_value() && check.proven == 0;
  };
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.milestones.clear(); }));
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.milestones = {NodeId(9)}; }));
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.milestones = {NodeId(2), NodeId(1)}; }));
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.milestones = {NodeId(2), NodeId(2)}; }));
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.shift = 61; }));
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.cases.clear(); }));
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.cases[0].rows[0].second = -1; }));
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.cases[0].rows.push_back(proof.cases[0].rows[0]); }));
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.cases[0].rows[0].first.phase = 1; }));
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.cases[0].rows[1].first.node = NodeId(0); }));    // b1 reads f1
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.cases[0].rows[2].first.reader = NodeId(1); }));  // f1 ran
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.cases[0].rows[2].first.node = NodeId(3); }));
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.cases[0].rows[2].first.rule = PhaseRule::result; }));
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.cases[0].rows[2].first.rule = PhaseRule::carry; }));
  EXPECT_TRUE(is_refused([](CostProof& proof) { proof.cases[0].decisions = {{0, kOne}}; }));
}

// a -> x -> z and b -> y -> z. Sizes 3, 3, 1, 1, 1, and a costs 2, b costs 4. y is aside of milestone x.
//
// Whether y has run or not, b's output or y's is needed after x: keep(b) + rerun(b) + ran(y) >= ran(b), and
// keep(y) + rerun(y) >= ran(y). With a budget of 4, a and x fill memory, so keep(b) and keep(y) are 0, and b and y have
// not run. But then nothing has to run again. If b is an input of x as well, b has run, and b or y must be there.
BudgetProblem two_arms(std::int64_t budget, bool reads_both) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(budget)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(3), .cost = 2});           // a
  problem.nodes.push_back({.reads = {}, .size = Bytes(3), .cost = 4});           // b
  problem.nodes.push_back({.reads = {NodeId(1)}, .size = Bytes(1), .cost = 8});  // y
  problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(1), .cost = 1});  // x
  if (reads_both) problem.nodes[NodeId(0)].reads.push_back(NodeId(1));           // and so is b before x
  problem.nodes.push_back({.reads = {NodeId(2), NodeId(3)}, .size = Bytes(1), .cost = 1});
  return problem;
}

// keep(a) >= 1, keep(b) + rerun(b) + ran(y) >= 1, keep(y) + rerun(y) >= ran(y), and 3 keep(a) + 3 keep(b) + keep(y) + 1
// <= 4. With multipliers 12, 4, 4 and 4: 12 + 4 - 4 * 3 = 4, so b or y runs again: its cost is at least 4.
CostProof aside_by_hand() {
  CostProof proof{.milestones = {NodeId(3)}, .cases = {}, .shift = 10};
  ProofCase leaf;
  leaf.rows = {{{.rule = PhaseRule::memory, .phase = 0, .node = {}, .reader = {}}, kOne * 4},
               {{.rule = PhaseRule::read, .phase = 0, .node = NodeId(0), .reader = {}}, kOne * 12},
               {{.rule = PhaseRule::need, .phase = 0, .node = NodeId(1), .reader = NodeId(2)}, kOne * 4},
               {{.rule = PhaseRule::need, .phase = 0, .node = NodeId(2), .reader = NodeId(4)}, kOne * 4}};
  proof.cases.push_back(leaf);
  return proof;
}

TEST(CheckCostBound, CountsNodesAside) {
  EXPECT_EQ(check_cost_bound(two_arms(4, true), aside_by_hand()).proven, 16 + 4);
  EXPECT_EQ(check_cost_bound(two_arms(5, true), aside_by_hand()).proven, 16);   // y is kept
  EXPECT_EQ(check_cost_bound(two_arms(4, false), aside_by_hand()).proven, 16);  // b may run after x
}

TEST(CheckCostBound, RefusesRowsAboutNodesAsideThatDoNotHold) {
  const auto is_refused = [](const PhaseRow& row) {
    CostProof proof = aside_by_hand();
    proof.cases[0].rows.emplace_back(row, 1);
    return check_cost_bound(two_arms(4, false), proof).problem.has_value();
  };
  const PhaseRow row{.rule = PhaseRule::first_read, .phase = 0, .node = NodeId(1), .reader = NodeId(2)};
  EXPECT_FALSE(is_refused(row));  // b before y, both aside
  PhaseRow damaged = row;
  damaged.reader = NodeId(4);  // it does not read b
  EXPECT_TRUE(is_refused(damaged));
  damaged = row;
  damaged.node = NodeId(0);  // before x
  EXPECT_TRUE(is_refused(damaged));
  damaged = row;
  damaged.rule = PhaseRule::stay_run;  // there is no second milestone
  EXPECT_TRUE(is_refused(damaged));
}

TEST(CheckInfeasible, AddsUpOneNode) {
  EXPECT_TRUE(check_infeasible(small_training(6), {.node = NodeId(1), .sets = {}}));  // f0 + f1 = 7
  EXPECT_FALSE(check_infeasible(small_training(7), {.node = NodeId(1), .sets = {}}));
  EXPECT_FALSE(check_infeasible(small_training(6), {.node = NodeId(7), .sets = {}}));
}

// a -> f, g, which are outputs of 5 bytes: the last of them runs beside the other one and the 10 bytes of a.
TEST(CheckInfeasible, CountsTheOutputsOfOtherMakers) {
  const auto is_proven = [](std::int64_t budget, NodeId node, std::vector<NodeId> makers) {
    BudgetProblem problem{.nodes = {}, .budget = Bytes(budget)};
    problem.nodes.push_back({.reads = {}, .size = Bytes(10)});
    problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(5), .is_output = true});
    problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(5), .is_output = true});
    return check_infeasible(problem, {.node = node, .sets = {}, .makers = std::move(makers)});
  };
  const std::vector<NodeId> both = {NodeId(1), NodeId(2)};
  EXPECT_TRUE(is_proven(19, NodeId(1), both));
  EXPECT_FALSE(is_proven(20, NodeId(1), both));
  EXPECT_TRUE(is_proven(14, NodeId(1), {NodeId(1)}));
  EXPECT_FALSE(is_proven(15, NodeId(1), {NodeId(1)}));
  const std::vector<NodeId> all = {NodeId(0), NodeId(1), NodeId(2)};
  EXPECT_TRUE(is_proven(19, NodeId(0), all));  // a may run last as well: 10 beside 5 + 5
  EXPECT_FALSE(is_proven(20, NodeId(0), all));
  EXPECT_FALSE(is_proven(19, NodeId(0), both));                    // not one of them
  EXPECT_FALSE(is_proven(19, NodeId(1), {NodeId(2), NodeId(1)}));  // not ascending
  EXPECT_FALSE(is_proven(19, NodeId(1), {NodeId(1), NodeId(1)}));  // twice
  EXPECT_FALSE(is_proven(19, NodeId(1), {NodeId(1), NodeId(9)}));  // no such node
}

// b1 needs f1, and making f1 needs f0 as well: 7 bytes.
TEST(CheckInfeasible, FollowsSetsBackwards) {
  const auto is_proven = [](std::int64_t budget, std::vector<std::vector<NodeId>> sets) {
    return check_infeasible(small_training(budget), {.node = NodeId(2), .sets = std::move(sets)});
  };
  EXPECT_TRUE(is_proven(6, {{NodeId(1)}}));
  EXPECT_FALSE(is_proven(7, {{NodeId(1)}}));               // f1 can be made if f0 exists
  EXPECT_FALSE(is_proven(7, {{NodeId(1)}, {NodeId(0)}}));  // f0 needs nothing
  EXPECT_FALSE(is_proven(6, {}));                          // b1 alone needs 5 bytes
  EXPECT_FALSE(is_proven(6, {{NodeId(0)}}));               // not what b1 needs
  EXPECT_FALSE(is_proven(6, {{NodeId(1)}, {}}));           // the empty set exists at the begin
  EXPECT_FALSE(is_proven(6, {{NodeId(1)}, {NodeId(9)}}));  // no such node
}

}  // namespace
}  // namespace lowtide
