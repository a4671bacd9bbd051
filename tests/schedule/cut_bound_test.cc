// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/orders/cut_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "lowtide/schedule/orders/order_search.h"
#include "lowtide/schedule/orders/order_state.h"
#include "tests/schedule/order_problems.h"

namespace lowtide::schedule_internal {
namespace {

constexpr std::int64_t kEnough = 1'000'000'000;

// For each node the least load that it has in any order; of these loads, the largest.
std::int64_t largest_least_load(const OrderProblem& problem) {
  std::vector<std::int64_t> least(problem.nodes.size(), std::numeric_limits<std::int64_t>::max());
  testing::for_each_order(problem, [&](const std::vector<std::uint32_t>& order) {
    OrderState state(problem);
    for (const std::uint32_t node : order) {
      least[node] = std::min(least[node], state.effect_of(node).load);
      state.run(node);
    }
  });
  return *std::max_element(least.begin(), least.end());
}

// The problem without results in place, for which the bound of each node is exact.
OrderProblem without_results_in_place(OrderProblem problem) {
  for (OrderProblem::Node& node : problem.nodes) {
    node.steps[0].dying.clear();
    node.steps[0].born.clear();
  }
  return problem;
}

TEST(CutBound, IsTheLargestOfTheLeastLoadsOfNodes) {
  Random random(61);
  int optimal = 0;
  for (int round = 0; round < 1000; ++round) {
    const OrderProblem problem =
        without_results_in_place(testing::random_order_problem(random, {.most_nodes = round % 10 == 0 ? 8 : 7}));
    const std::int64_t bound = cut_bound(problem, 0, kEnough).bound;
    ASSERT_EQ(bound, largest_least_load(problem)) << "round " << round;
    optimal += bound == testing::least_peak(problem) ? 1 : 0;
  }
  EXPECT_GT(optimal, 500);
}

TEST(CutBound, IsAtMostThePeakOfAnyOrder) {
  Random random(62);
  for (int round = 0; round < 1000; ++round) {
    const OrderProblem problem = testing::random_order_problem(random, {.most_nodes = 7});
    const std::int64_t least = testing::least_peak(problem);
    ASSERT_LE(cut_bound(problem, 0, kEnough).bound, least) << "round " << round;
    ASSERT_LE(cut_bound(problem, 0, 50).bound, least) << "round " << round;
    ASSERT_LE(OrderSearch(problem).raised_by_cuts(0, kEnough), least) << "round " << round;
  }
}

// s writes a and b, of 10 bytes each. One chain, p1 p2, turns a into c (30 bytes) and then into d (1 byte). The other
// one, q1 q2, does the same with b, e and f. t reads d and f. While p1 runs, a and c are live, and the other chain
// holds at least the byte of f: 10 + 30 + 1 = 41.
TEST(CutBound, CountsTheLeastBytesOfOtherBranches) {
  OrderProblem problem;
  problem.values = {{.size = 10, .users = 2}, {.size = 10, .users = 2}, {.size = 30, .users = 2},
                    {.size = 1, .users = 2},  {.size = 30, .users = 2}, {.size = 1, .users = 2}};
  problem.nodes = {{.before = {}, .steps = {{.values = {0, 1}}}},   // s
                   {.before = {0}, .steps = {{.values = {0, 2}}}},  // p1
                   {.before = {1}, .steps = {{.values = {2, 3}}}},  // p2
                   {.before = {0}, .steps = {{.values = {1, 4}}}},  // q1
                   {.before = {3}, .steps = {{.values = {4, 5}}}},  // q2
                   {.before = {2, 4}, .steps = {{.values = {3, 5}}}}};
  EXPECT_EQ(cut_bound(problem, 0, kEnough).bound, 41);
}

TEST(CutBound, KeepsTheGivenBoundWithoutWork) {
  Random random(63);
  const OrderProblem problem = testing::random_order_problem(random, {.most_nodes = 7});
  EXPECT_EQ(cut_bound(problem, 3, 0).bound, 3);
}

}  // namespace
}  // namespace lowtide::schedule_internal
