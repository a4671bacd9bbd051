// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "lowtide/verify/check_budget.h"
#include "lowtide/verify/check_transfers.h"
#include "tests/testing/least_cost_by_states.h"
#include "tests/testing/step_problems.h"

// Proofs about problems with parts, views, states, updates, seeds, edges `before` and groups.
namespace lowtide {
namespace {

// state 0 (5 bytes); 1 'a' (4) with part 2 'm' (2), reads 0; 3 'v', a view of a; 4 'b' (3) reads v; 5 'c' (1) reads m
// and b. Costs 5, 2, 1.
BudgetProblem with_everything(std::int64_t budget) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(budget)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(5), .is_state = true});
  problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(4), .cost = 5});
  problem.nodes.push_back({.reads = {}, .size = Bytes(2), .part_of = NodeId(1)});
  problem.nodes.push_back({.reads = {}, .size = Bytes(0), .view_of = NodeId(1)});
  problem.nodes.push_back({.reads = {NodeId(3)}, .size = Bytes(3), .cost = 2});
  problem.nodes.push_back({.reads = {NodeId(2), NodeId(4)}, .size = Bytes(1), .cost = 1});
  return problem;
}

TEST(CheckStepProofs, OneNodeTakesItsPartsAndAllStates) {
  const InfeasibleProof proof{.node = NodeId(1), .sets = {}};  // 5 + 4 + 2
  EXPECT_TRUE(check_infeasible(with_everything(10), proof));
  EXPECT_FALSE(check_infeasible(with_everything(11), proof));
  EXPECT_TRUE(check_infeasible(with_everything(11), {.node = NodeId(4), .sets = {}}));  // 5 + 4 + 3
  EXPECT_FALSE(check_infeasible(with_everything(12), {.node = NodeId(4), .sets = {}}));
  for (NodeId never_runs : {NodeId(0), NodeId(2), NodeId(3)}) {
    EXPECT_FALSE(check_infeasible(with_everything(0), {.node = never_runs, .sets = {}}));
    EXPECT_FALSE(check_too_large(with_everything(0), never_runs));
  }
  EXPECT_TRUE(check_too_large(with_everything(10), NodeId(1)));
  EXPECT_FALSE(check_too_large(with_everything(11), NodeId(1)));
  BudgetProblem problem = with_everything(8);
  problem.nodes[NodeId(3)].is_output = true;  // a view of 4 bytes, and the state
  EXPECT_TRUE(check_too_large(problem, std::nullopt));
  EXPECT_TRUE(check_infeasible(problem, {.node = std::nullopt, .sets = {}}));
  problem.budget = Bytes(9);
  EXPECT_FALSE(check_too_large(problem, std::nullopt));
}

// c needs m and b. Making m needs a's run beside b: 5 + 4 + 2 + 3. Making b needs a, and keeps m: 5 + 4 + 2 + 3.
TEST(CheckStepProofs, SetsContainParts) {
  const InfeasibleProof proof{.node = NodeId(5), .sets = {{NodeId(2), NodeId(4)}}};
  EXPECT_TRUE(check_infeasible(with_everything(13), proof));
  EXPECT_FALSE(check_infeasible(with_everything(14), proof));
  for (NodeId not_made : {NodeId(0), NodeId(3)}) {
    EXPECT_FALSE(check_infeasible(with_everything(13), {.node = NodeId(5), .sets = {proof.sets[0], {not_made}}}));
  }
}

// While b runs, a is there. With 13 bytes, m is not, and a runs again for it: 2 + 3 * keep(a) ... keep(m) + rerun(a) >=
// 1, keep(a) >= 1, 4 keep(a) + 2 keep(m) + 3 + 5 <= 13.
TEST(CheckStepProofs, APartIsMadeAgainByItsRun) {
  CostProof proof{.milestones = {NodeId(4)}, .cases = {}, .shift = 0};
  ProofCase leaf;
  leaf.rows = {{{.rule = PhaseRule::memory, .phase = 0, .node = {}, .reader = {}}, 2},
               {{.rule = PhaseRule::read, .phase = 0, .node = NodeId(1), .reader = {}}, 8},
               {{.rule = PhaseRule::need, .phase = 0, .node = NodeId(2), .reader = NodeId(5)}, 4}};
  proof.cases.push_back(leaf);
  // 2 * (8 - 13) + 8 + 4 = 2, and costs are multiples of 1.
  EXPECT_EQ(check_cost_bound(with_everything(13), proof).proven, 8 + 2);
  EXPECT_EQ(check_cost_bound(with_everything(14), proof).proven, 8);
  proof.milestones = {NodeId(2)};  // a part never runs
  EXPECT_TRUE(check_cost_bound(with_everything(13), proof).problem);
}

TEST(CheckStepProofs, ARunNeverHappensAgainAfterWhatItPrecedes) {
  CostProof proof{.milestones = {NodeId(4)}, .cases = {{}}, .shift = 0};
  proof.cases[0].rows = {{{.rule = PhaseRule::once, .phase = 0, .node = NodeId(1), .reader = {}}, 1}};
  BudgetProblem problem = with_everything(13);
  EXPECT_TRUE(check_cost_bound(problem, proof).problem);
  problem.before = {{.reader = NodeId(1), .writer = NodeId(4)}};
  EXPECT_FALSE(check_cost_bound(problem, proof).problem);
  problem.before = {{.reader = NodeId(1), .writer = NodeId(5)}};  // c may run later
  EXPECT_TRUE(check_cost_bound(problem, proof).problem);
  problem.before.clear();
  problem.groups = {{NodeId(1), NodeId(4)}};  // it is there once
  EXPECT_FALSE(check_cost_bound(problem, proof).problem);
}

// All that a sequence may need before the first run of a node, as far as the budget permits; empty if that may be
// nothing.
std::vector<std::vector<NodeId>> needed_sets(const BudgetProblem& problem, const std::set<NodeId>& first) {
  const auto made_of = [&](NodeId entry) { return problem.nodes[entry].part_of.value_or(entry); };
  std::vector<std::set<NodeId>> sets = {first};
  for (std::size_t at = 0; at < sets.size() && sets.size() < 400; ++at) {
    for (NodeId made : std::set<NodeId>(sets[at])) {
      std::set<NodeId> before = sets[at];
      Bytes load = problem.nodes[made_of(made)].extra;
      for (NodeId read : problem.nodes[made_of(made)].reads) {
        const NodeId bytes = bytes_of_entry(problem, read);
        if (!problem.nodes[bytes].is_state) before.insert(bytes);
      }
      for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
        const BudgetNode& node = problem.nodes[id];
        const bool is_made = id == made_of(made) || node.part_of == made_of(made);
        if (node.is_state || is_made || before.contains(id)) load += node.size;
        if (is_made) before.erase(id);
      }
      if (load > problem.budget) continue;
      if (before.empty()) return {};
      if (std::find(sets.begin(), sets.end(), before) == sets.end()) sets.push_back(before);
    }
  }
  std::vector<std::vector<NodeId>> lists;
  for (const std::set<NodeId>& set : sets) lists.emplace_back(set.begin(), set.end());
  return lists;
}

TEST(CheckStepProofs, NothingIsRefutedThatHasASequence) {
  StepProblems problems(7);
  int refuted = 0;
  int infeasible = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    BudgetProblem problem = problems.next(6);
    Bytes all;
    for (const BudgetNode& node : problem.nodes) all += node.size;
    problem.budget = Bytes(problems.random().between(all.count() / 3, all.count()));
    const bool is_feasible = least_cost_by_states(problem).has_value();
    infeasible += is_feasible ? 0 : 1;
    bool is_refuted = false;
    for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
      std::set<NodeId> first;
      for (NodeId read : problem.nodes[id].reads) {
        const NodeId bytes = bytes_of_entry(problem, read);
        if (!problem.nodes[bytes].is_state) first.insert(bytes);
      }
      if (first.empty()) continue;
      is_refuted = is_refuted || check_infeasible(problem, {.node = id, .sets = needed_sets(problem, first)});
    }
    ASSERT_FALSE(is_refuted && is_feasible) << "trial " << trial;
    refuted += is_refuted ? 1 : 0;
  }
  EXPECT_GT(refuted, infeasible / 2);
  EXPECT_GT(infeasible, 200);
}

// Proofs about the last of some runs, drawn among all runs.
TEST(CheckStepProofs, TheLastOfSomeRunsRefutesNoSequence) {
  StepProblems problems(8);
  int refuted = 0;
  int refuted_by_several = 0;
  for (int trial = 0; trial < 2500; ++trial) {
    BudgetProblem problem = problems.next(6);
    Bytes all;
    std::vector<NodeId> runs;
    for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
      all += problem.nodes[id].size;
      if (!problem.nodes[id].is_run()) continue;
      runs.push_back(id);
      // More outputs than usual, where an output may be one.
      if (problem.nodes[id].size > Bytes(0) && problems.random().chance(40)) problem.nodes[id].is_output = true;
    }
    if (!check_budget_problem(problem)) continue;
    problem.budget = Bytes(problems.random().between(all.count() / 3, all.count()));
    std::vector<NodeId> makers;
    for (NodeId run : runs) {
      if (problems.random().chance(50)) makers.push_back(run);
    }
    if (makers.empty()) continue;
    if (!check_infeasible(problem, {.node = makers.front(), .sets = {}, .makers = makers})) continue;
    ++refuted;
    refuted_by_several += makers.size() > 1 ? 1 : 0;
    ASSERT_FALSE(least_cost_by_states(problem)) << "trial " << trial;
  }
  EXPECT_GT(refuted_by_several, 20);
  EXPECT_GT(refuted, refuted_by_several);
}

// The best bound of some proofs with one milestone: every row that the checker accepts, with drawn multipliers that
// weigh a kept byte and what it saves about equally.
std::int64_t best_bound(const BudgetProblem& problem, NodeId milestone, Random& random) {
  CostProof proof{.milestones = {milestone}, .cases = {{}}, .shift = 2};
  const auto try_row = [&](const PhaseRow& row) {
    proof.cases[0].rows = {{row, 0}};
    return !check_cost_bound(problem, proof).problem;
  };
  std::vector<std::pair<PhaseRow, std::int64_t>> rows = {
      {{.rule = PhaseRule::memory, .phase = 0, .node = {}, .reader = {}}, 0}};
  for (PhaseRule rule : {PhaseRule::read, PhaseRule::need, PhaseRule::result, PhaseRule::rerun_input, PhaseRule::once,
                         PhaseRule::first_read}) {
    for (NodeId node : all_ids<NodeId>(problem.nodes.size())) {
      for (NodeId reader : all_ids<NodeId>(problem.nodes.size())) {
        const bool has_reader =
            rule == PhaseRule::need || rule == PhaseRule::rerun_input || rule == PhaseRule::first_read;
        if (!has_reader && reader != NodeId(0)) continue;
        const PhaseRow row{.rule = rule, .phase = 0, .node = node, .reader = reader};
        if (try_row(row)) rows.emplace_back(row, 0);
      }
    }
  }
  std::sort(rows.begin(), rows.end());
  std::int64_t best = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const std::int64_t per_byte = random.between(1, 16);
    for (auto& [row, times] : rows) {
      const std::int64_t bytes = problem.nodes[row.node].size.count() * per_byte;
      const NodeId run = problem.nodes[row.node].part_of.value_or(row.node);
      const std::int64_t cost = problem.nodes[run].cost << proof.shift;
      times = std::min(bytes, cost);
      if (row.rule == PhaseRule::memory) times = per_byte;
      if (row.rule == PhaseRule::read) times = bytes;
      if (row.rule == PhaseRule::once) times = random.chance(50) ? 100 : 0;
      if (row.rule != PhaseRule::memory && random.chance(30)) times = random.chance(50) ? 0 : random.between(0, bytes);
    }
    proof.cases[0].rows = rows;
    best = std::max(best, check_cost_bound(problem, proof).proven);
  }
  return best;
}

TEST(CheckStepProofs, NoBoundIsAboveTheLeastCost) {
  StepProblems problems(8);
  int raised = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    BudgetProblem problem = problems.next(7);
    Bytes all;
    for (const BudgetNode& node : problem.nodes) all += node.size;
    problem.budget = Bytes(problems.random().between(all.count() / 2, all.count()));
    const std::optional<std::int64_t> least = least_cost_by_states(problem);
    if (!least) continue;
    std::int64_t base = 0;
    for (const BudgetNode& node : problem.nodes) base += node.cost;
    if (trial >= 300 && *least == base) continue;  // where nothing runs again, a wrong bound would be rare
    for (NodeId milestone : all_ids<NodeId>(problem.nodes.size())) {
      if (!problem.nodes[milestone].is_run()) continue;
      const std::int64_t bound = best_bound(problem, milestone, problems.random());
      ASSERT_LE(bound, *least) << "trial " << trial << " milestone " << milestone.value();
      raised += bound > base ? 1 : 0;
    }
  }
  EXPECT_GT(raised, 20);
}

}  // namespace
}  // namespace lowtide
