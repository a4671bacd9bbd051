// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/orders/order_contraction.h"

#include <gtest/gtest.h>

#include <set>

#include "lowtide/schedule/orders/downset_search.h"
#include "tests/schedule/order_problems.h"

namespace lowtide::schedule_internal {
namespace {

using Order = std::vector<OrderProblem::Index>;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// The steps of an order, as nodes of the original problem.
Order origins_of(const OrderProblem& problem, const Order& order) {
  Order origins;
  for (OrderProblem::Index node : order) {
    for (const OrderProblem::Step& step : problem.nodes[node].steps) origins.push_back(step.origin);
  }
  return origins;
}

OrderProblem numbered(OrderProblem problem) {
  for (OrderProblem::Index node = 0; node < problem.nodes.size(); ++node) problem.nodes[node].steps[0].origin = node;
  return problem;
}

Order best_order(const OrderProblem& problem) {
  DownsetSearch search(problem, 0);
  search.run(kNoLimit / 4, kNoLimit);
  return search.order();
}

// Only m waits for s (8 bytes), and m also reads x. So s can run right before m, and they become one node.
//   values: x 100 (node 0), s 8 (node 1), r 100 (node 2, reads x), m 100 (node 3, reads s and x)
TEST(Contracted, ANodeWithOneFollowerRunsRightBeforeIt) {
  OrderProblem problem;
  problem.values = {{.size = 100, .users = 3},
                    {.size = 8, .users = 2},
                    {.size = 100, .users = 1, .is_kept = true},
                    {.size = 100, .users = 1, .is_kept = true}};
  problem.nodes = {{.steps = {{.values = {0}}}},
                   {.steps = {{.values = {1}}}},
                   {.before = {0}, .steps = {{.values = {0, 2}}}},
                   {.before = {0, 1}, .steps = {{.values = {0, 1, 3}}}}};
  const OrderProblem joined = contracted(numbered(problem), 0);
  ASSERT_EQ(joined.nodes.size(), 3U);
  EXPECT_EQ(origins_of(joined, {2}), (Order{1, 3}));
  EXPECT_EQ(joined.nodes[2].before, (Order{0}));
  EXPECT_EQ(peak_of(joined, {0, 1, 2}), 308);  // x, r, s, m
  EXPECT_EQ(peak_of(problem, {0, 2, 1, 3}), 308);
}

// m may overwrite x, so the load of m may be no higher than the live bytes before it. The load of s is 8 bytes higher
// than the live bytes after it, because y dies with s. So s is joined to m, and its load ignored, only with a tolerance
// of 8. Both m and r read x, so x is not joined.
TEST(Contracted, IgnoresLoadsOnlyWithinTheTolerance) {
  OrderProblem problem;
  problem.values = {{.size = 100, .users = 3},
                    {.size = 8, .users = 2},
                    {.size = 50, .users = 2},
                    {.size = 100, .users = 2},
                    {.size = 1, .users = 1, .is_kept = true}};
  // 0: x    1: y    2: s, reads y    3: m, over x, reads s    4: the end, reads m    5: r, reads x
  problem.nodes = {{.steps = {{.values = {0}}}},
                   {.steps = {{.values = {1}}}},
                   {.before = {1}, .steps = {{.values = {1, 2}}}},
                   {.before = {0, 2}, .steps = {{.values = {0, 2, 3}, .dying = {0}, .born = {3}}}},
                   {.before = {3}, .steps = {{.values = {3, 4}}}},
                   {.before = {0}, .steps = {{.values = {0}, .scratch = 1}}}};
  const auto overlooked = [](const OrderProblem& one) {
    int count = 0;
    for (const OrderProblem::Node& node : one.nodes) {
      for (const OrderProblem::Step& step : node.steps) count += step.counts ? 0 : 1;
    }
    return count;
  };
  EXPECT_EQ(overlooked(contracted(numbered(problem), 0)), 0);
  EXPECT_GT(overlooked(contracted(numbered(problem), 8)), 0);
  EXPECT_EQ(overlooked(all_counted(contracted(numbered(problem), 8))), 0);
}

// Every node of the old problem is in the new one once. The best order of the new problem is a best order of the old
// one. Two thirds of the problems have extras.
TEST(Contracted, KeepsTheLeastPeak) {
  Random random(61);
  std::int64_t before = 0;
  std::int64_t after = 0;
  for (int round = 0; round < 4000; ++round) {
    const OrderProblem problem = numbered(testing::random_order_problem(
        random, {.most_nodes = 7, .edge_percent = round % 2 == 0 ? 20 : 40, .extras = round % 3 != 0}));
    const OrderProblem joined = contracted(problem, 0);
    const Order order = origins_of(joined, best_order(joined));
    ASSERT_EQ(order.size(), problem.nodes.size());
    ASSERT_EQ(std::set<OrderProblem::Index>(order.begin(), order.end()).size(), order.size());
    const std::int64_t least = testing::least_peak(problem);
    ASSERT_EQ(testing::peak_by_definition(problem, order), least) << "round " << round;
    ASSERT_EQ(peak_of(joined, best_order(joined)), least) << "round " << round;
    before += static_cast<std::int64_t>(problem.nodes.size());
    after += static_cast<std::int64_t>(joined.nodes.size());
  }
  EXPECT_LT(after, before * 17 / 20);  // otherwise nothing was tested
}

// If the loads of some steps are ignored, the best peak is a lower bound. With all steps counted, the peak of the order
// is that in the old problem.
TEST(Contracted, IsALowerBoundIfItIgnoresLoads) {
  Random random(62);
  int lower = 0;
  for (int round = 0; round < 4000; ++round) {
    const OrderProblem problem = numbered(testing::random_order_problem(random, {.most_nodes = 7, .edge_percent = 25}));
    const OrderProblem easier = contracted(problem, 5);
    const Order order = best_order(easier);
    const std::int64_t least = testing::least_peak(problem);
    ASSERT_LE(peak_of(easier, order), least) << "round " << round;
    const std::int64_t peak = peak_of(all_counted(easier), order);
    ASSERT_GE(peak, least);
    ASSERT_EQ(testing::peak_by_definition(problem, origins_of(easier, order)), peak) << "round " << round;
    lower += peak_of(easier, order) < least ? 1 : 0;
  }
  EXPECT_GT(lower, 5);  // otherwise no ignored load mattered
}

// A chain of 100,000 nodes of one size. Joined nodes have a limited length, so that no node is examined for every join.
TEST(Contracted, JoinsALongChain) {
  OrderProblem problem;
  constexpr OrderProblem::Index kNodes = 100'000;
  for (OrderProblem::Index node = 0; node < kNodes; ++node) {
    problem.values.push_back({.size = 64, .users = node + 1 < kNodes ? 2U : 1U});
    problem.nodes.push_back({.steps = {{.values = {node}}}});
    if (node == 0) continue;
    problem.nodes[node].before = {node - 1};
    problem.nodes[node].steps[0].values = {node - 1, node};
  }
  const OrderProblem joined = contracted(numbered(problem), 0);
  EXPECT_LE(joined.nodes.size(), kNodes / 32);
  Order order(joined.nodes.size());
  for (OrderProblem::Index node = 0; node < order.size(); ++node) order[node] = node;
  EXPECT_EQ(peak_of(joined, order), 128);
}

}  // namespace
}  // namespace lowtide::schedule_internal
