// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/phases/phase_plan.h"
#include "lowtide/budget/runs/load_scan.h"

#include <gtest/gtest.h>

#include <numeric>

#include "lowtide/budget/phases/phase_model.h"
#include "lowtide/budget/phases/phase_rounding.h"
#include "lowtide/budget/phases/phase_search.h"
#include "lowtide/verify/check_budget.h"
#include "tests/budget/budget_problems.h"

namespace lowtide::budget_internal {
namespace {

constexpr std::int64_t kAmple = 1'000'000'000;

Runs each_once(const RunProblem& problem) {
  Runs order(problem.count());
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

TEST(PhasePlan, KeepsWhatItIsTold) {
  // Nodes f0 f1 f2 b2 b1 b0. Only f2 is kept at b2, so b1 needs f1 again, and b0 needs f0, which f1 has made again.
  const RunProblem problem(training_chain(3, 7));
  std::vector<std::vector<char>> keeps = {{0, 0, 1, 0, 0, 0}};
  EXPECT_EQ(runs_of(problem, each_once(problem), {3}, keeps), (Runs{0, 1, 2, 3, 0, 1, 4, 5}));
  keeps = {{0, 0, 1, 0, 0, 0}, {1, 1, 0, 1, 0, 0}};
  EXPECT_EQ(runs_of(problem, each_once(problem), {3, 4}, keeps), (Runs{0, 1, 2, 3, 0, 1, 4, 5}));
}

TEST(PhasePlan, SolvesAChainAtOnce) {
  const RunProblem problem(training_chain(20, 31));
  std::int64_t work = kAmple;
  const PhasePlans plans = plan_phases(problem, each_once(problem), work);
  ASSERT_TRUE(plans.best);
  // 41 bytes without reruns; 5 of f run again.
  EXPECT_EQ(LoadScan(problem).scan(*plans.best).cost, 20 * 3 + 20 * 4 + 5 * 3);
}

// Every pair of comparable nodes as milestones: the proven bound is what the verifier proves, and never above the
// least cost.
TEST(PhasePlan, BoundsNeverExceedTheLeastCost) {
  Random random(21);
  int above_zero = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const BudgetProblem given = random_problem(random, 7);
    const std::optional<std::int64_t> least = least_cost_by_sweeps(given);
    if (!least) continue;
    const RunProblem problem(given);
    for (RunProblem::Index first = 0; first < problem.count(); ++first) {
      const PhaseModel after(problem, {first}, nullptr);
      for (RunProblem::Index second = first; second < problem.count(); ++second) {
        Runs milestones = {first};
        if (second != first) {
          if (!PhaseModel(problem, {second}, nullptr).is_before(0, first)) continue;
          milestones.push_back(second);
        }
        std::int64_t work = 10'000'000;
        const std::optional<PhaseBound> bound = bound_phases(problem, milestones, kMaxTotalCost, work);
        if (!bound) continue;
        const CostBoundCheck check = check_cost_bound(given, bound->proof);
        ASSERT_FALSE(check.problem) << *check.problem;
        EXPECT_GE(check.proven, problem.base_cost + bound->extra) << "trial " << trial;
        EXPECT_LE(check.proven, *least) << "trial " << trial;
        ++above_zero;
      }
    }
  }
  EXPECT_GT(above_zero, 100);
}

// A problem with few reads, so that most pairs of nodes are not comparable.
BudgetProblem wide_problem(Random& random) {
  const auto count = static_cast<std::uint32_t>(random.between(5, 7));
  std::vector<TestNode> nodes;
  std::int64_t sum = 0;
  for (std::uint32_t at = 0; at < count; ++at) {
    TestNode node{.size = random.between(1, 6), .cost = random.between(0, 5), .is_output = random.chance(10)};
    for (std::uint32_t input = 0; input < at; ++input) {
      if (random.chance(30)) node.reads.push_back(input);
    }
    sum += node.size;
    nodes.push_back(std::move(node));
  }
  return budget_problem(random.between(sum / 3, sum * 2 / 3), nodes);
}

// All chains of up to three milestones, with variables for nodes aside of them: the proof adds up to its bound, and
// never to more than the least cost of all sequences. The nodes aside raise some bounds.
TEST(PhasePlan, BoundsWithNodesAsideNeverExceedTheLeastCost) {
  Random random(23);
  int raised = 0;
  int proofs = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    BudgetProblem given = wide_problem(random);
    if (trial % 4 == 0) given.nodes[NodeId(0)].runs_once = true;
    const std::optional<std::int64_t> least = least_cost_by_sweeps(given);
    if (!least) continue;
    const RunProblem problem(given);
    const auto is_before = [&](RunProblem::Index a, RunProblem::Index b) {
      return PhaseModel(problem, {b}, nullptr).is_before(0, a);
    };
    std::vector<Runs> chains;
    for (RunProblem::Index node = 0; node < problem.count(); ++node) {
      const std::size_t known = chains.size();
      chains.push_back({node});
      for (std::size_t at = 0; at < known; ++at) {
        if (chains[at].size() == 3 || !is_before(chains[at].back(), node)) continue;
        chains.push_back(chains[at]);
        chains.back().push_back(node);
      }
    }
    for (const Runs& chain : chains) {
      const auto bound_of = [&](bool with_aside) {
        std::int64_t work = 2'000'000;
        const PhaseModel model(problem, chain, nullptr, with_aside);
        return PhaseSearch(model, *least - problem.base_cost + 1).search(work);
      };
      const PhaseAnswer answer = bound_of(true);
      const CostBoundCheck check = check_cost_bound(given, answer.proof);
      ASSERT_FALSE(check.problem) << *check.problem;
      ASSERT_GE(check.proven, problem.base_cost + answer.bound) << "trial " << trial;
      ASSERT_LE(check.proven, *least) << "trial " << trial;
      proofs += answer.bound > 0 ? 1 : 0;
      raised += answer.bound > bound_of(false).bound ? 1 : 0;
    }
  }
  EXPECT_GT(proofs, 300);
  EXPECT_GT(raised, 100);
}

TEST(PhasePlan, PlansAreValid) {
  Random random(22);
  int fitting = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const BudgetProblem given = random_problem(random, 12);
    const RunProblem problem(given);
    std::int64_t work = 10'000'000;
    const PhasePlans plans = plan_phases(problem, each_once(problem), work);
    LoadScan scan(problem);
    for (const Runs& runs : plans.tried) EXPECT_TRUE(scan.scan(runs).is_valid) << "trial " << trial;
    if (!plans.best) continue;
    EXPECT_LE(scan.scan(*plans.best).peak, problem.budget) << "trial " << trial;
    ++fitting;
  }
  EXPECT_GT(fitting, 20);
}

// 40 forward nodes of 2 bytes and cost 3 turn to backward nodes of 1 byte. With 60 bytes, 11 forward nodes must run
// again (IsOptimalOnLongChains). All are alike, so the linear program of the turn has a plan of whole outputs.
TEST(PhaseRounding, FindsThePlanOfAChain) {
  const RunProblem problem(training_chain(40, 60));
  const Runs order = each_once(problem);
  std::int64_t work = 10'000'000;
  const std::vector<Runs> plans = round_phases(problem, order, work);
  ASSERT_FALSE(plans.empty());
  const Loads loads = LoadScan(problem).scan(plans.front());
  EXPECT_TRUE(loads.is_valid);
  EXPECT_EQ(loads.cost, 40 * 3 + 40 * 4 + 11 * 3);
  EXPECT_GT(work, 0);
  std::int64_t none = 0;
  EXPECT_TRUE(round_phases(problem, order, none).empty());
}

}  // namespace
}  // namespace lowtide::budget_internal
