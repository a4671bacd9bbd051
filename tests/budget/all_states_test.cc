// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "lowtide/budget/rematerialize.h"
#include "lowtide/verify/check_budget.h"
#include "tests/testing/least_cost_by_states.h"
#include "tests/testing/step_problems.h"

// Random problems with everything that a budget problem can state, against a search over all states.
namespace lowtide {
namespace {

// Each run once, after all that must run before it.
std::vector<NodeId> order_by_rules(const BudgetProblem& problem) {
  std::vector<BeforeEdge> edges = problem.before;
  for (const BeforeEdge& edge : implied_before(problem)) edges.push_back(edge);
  for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
    for (NodeId read : problem.nodes[id].reads) {
      const NodeId bytes = bytes_of_entry(problem, read);
      if (!problem.nodes[bytes].is_state) {
        edges.push_back({.reader = problem.nodes[bytes].part_of.value_or(bytes), .writer = id});
      }
    }
  }
  for (const std::vector<NodeId>& group : problem.groups) {
    for (std::size_t at = 1; at < group.size(); ++at) edges.push_back({.reader = group[at - 1], .writer = group[at]});
  }
  std::vector<NodeId> order;
  const auto has_run = [&](NodeId id) { return std::find(order.begin(), order.end(), id) != order.end(); };
  for (bool is_longer = true; is_longer;) {
    is_longer = false;
    for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
      const bool is_ready = std::all_of(edges.begin(), edges.end(), [&](const BeforeEdge& edge) {
        return edge.writer != id || has_run(edge.reader);
      });
      if (!problem.nodes[id].is_run() || has_run(id) || !is_ready) continue;
      order.push_back(id);
      is_longer = true;
    }
  }
  return order;
}

TEST(AllStates, FeasibilityCostAndBoundAgree) {
  StepProblems problems(1);
  int found = 0;
  int infeasible = 0;
  int undecided = 0;
  int fused = 0;  // some part overwrites something
  for (int trial = 0; trial < 2000; ++trial) {
    BudgetProblem problem = problems.next(8);
    fused += std::any_of(problem.nodes.begin(), problem.nodes.end(),
                         [](const BudgetNode& node) { return node.part_of && node.overwrites; })
                 ? 1
                 : 0;
    for (std::vector<NodeId>& group : problem.groups) {
      std::vector<NodeId> once;
      for (NodeId id : group) {
        if (std::find(once.begin(), once.end(), id) == once.end()) once.push_back(id);
      }
      group = once;
    }
    Bytes all;
    for (const BudgetNode& node : problem.nodes) all += node.size;
    problem.budget = Bytes(problems.random().between(all.count() / 3, all.count()));
    const std::vector<NodeId> order = order_by_rules(problem);
    const std::optional<std::int64_t> least = least_cost_by_states(problem);
    const BudgetAnswer answer = rematerialize(problem, order, {.effort = 100'000'000});
    ASSERT_TRUE(check_budget_runs(problem, answer).empty()) << "trial " << trial;
    if (!least) {
      // A proof allows sequences that break some rules, so it may not exist.
      ASSERT_NE(answer.outcome, BudgetOutcome::found) << "trial " << trial;
      ++(answer.outcome == BudgetOutcome::infeasible ? infeasible : undecided);
      if (answer.obstruction) {
        EXPECT_TRUE(check_infeasible(problem, *answer.obstruction)) << "trial " << trial;
      }
      continue;
    }
    ASSERT_EQ(answer.outcome, BudgetOutcome::found) << "trial " << trial;
    EXPECT_EQ(answer.cost, *least) << "trial " << trial;
    EXPECT_LE(answer.cost_bound, *least) << "trial " << trial;
    ++found;
  }
  EXPECT_GT(found, 600);
  EXPECT_GT(infeasible, 1000);
  EXPECT_LT(undecided, 60);
  EXPECT_GT(fused, 50);
}

}  // namespace
}  // namespace lowtide
