// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/order_search.h"

#include <gtest/gtest.h>

#include "lowtide/schedule/downset_search.h"
#include "tests/schedule/order_problems.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using Order = std::vector<OrderProblem::Index>;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

bool is_topological(const OrderProblem& problem, const Order& order) {
  std::vector<char> has_run(problem.nodes.size(), 0);
  for (OrderProblem::Index node : order) {
    for (OrderProblem::Index before : problem.nodes[node].before) {
      if (has_run[before] == 0) return false;
    }
    if (std::exchange(has_run[node], 1) != 0) return false;
  }
  return order.size() == problem.nodes.size();
}

Order turned(Order order) {
  std::reverse(order.begin(), order.end());
  for (OrderProblem::Index& node : order) node = static_cast<OrderProblem::Index>(order.size()) - 1 - node;
  return order;
}

// Two branches, large first and small last: a 100, b 100, c 1 (of a), d 1 (of b), e 1 (of c and d).
//   a b c d e: a 100, a b 200, a b c 201, b c d 102        a c b d e: 100, a c 101, c b 101, c b d 102
OrderProblem two_branches() {
  OrderProblem problem;
  problem.values = {{.size = 100, .users = 2},
                    {.size = 100, .users = 2},
                    {.size = 1, .users = 2},
                    {.size = 1, .users = 2},
                    {.size = 1, .users = 1}};
  problem.nodes = {{.steps = {{.values = {0}}}},
                   {.steps = {{.values = {1}}}},
                   {.before = {0}, .steps = {{.values = {0, 2}}}},
                   {.before = {1}, .steps = {{.values = {1, 3}}}},
                   {.before = {2, 3}, .steps = {{.values = {2, 3, 4}}}}};
  return problem;
}

TEST(PeakOf, IsTheLargestLoadOfAStep) {
  EXPECT_EQ(peak_of(two_branches(), {0, 1, 2, 3, 4}), 201);
  EXPECT_EQ(peak_of(two_branches(), {0, 2, 1, 3, 4}), 102);
}

TEST(DownsetSearch, FindsTheOrderThatFinishesABranch) {
  const OrderProblem problem = two_branches();
  DownsetSearch search(problem, 0);
  search.run(1'000'000, kNoLimit);
  ASSERT_TRUE(search.is_solved());
  EXPECT_EQ(search.bound(), 102);
  EXPECT_EQ(peak_of(problem, search.order()), 102);
}

// c may be written over a, which dies with it: 100 + 100 - 100.
TEST(PeakOf, CountsWhatIsWrittenInPlaceOnce) {
  OrderProblem problem;
  problem.values = {{.size = 100, .users = 2}, {.size = 60, .users = 1}};
  problem.nodes = {{.steps = {{.values = {0}}}},
                   {.before = {0}, .steps = {{.values = {0, 1}, .dying = {0}, .born = {1}}}}};
  EXPECT_EQ(peak_of(problem, {0, 1}), 100);
  problem.values[0].is_kept = true;
  EXPECT_EQ(peak_of(problem, {0, 1}), 160);
}

// Two concats put the halves of a constant the other way round. Between the two nothing of it need be in the arena:
// while u runs, r with 64 bytes and u with 4.
TEST(OrderProblem, WhatIsBroughtInTwiceNeedNotStay) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input i : f32[1]
    constant w : f32[4]
    s, t = Split(w) {axis = 0, split = [2, 2]} : f32[2], f32[2]
    c = Concat(t, s) {axis = 0} : f32[4]
    p = Conv(c) : f32[1]
    r = Conv(p) : f32[16]
    u = Conv(r) : f32[1]
    d = Concat(t, s) after (u) {axis = 0} : f32[4]
    q = Conv(d, u) : f32[1]
    output q
  })");
  const OrderProblem problem = order_problem(graph, testing::dense_kernels(graph), {});
  EXPECT_LE(search_order(problem, {.work = 1'000'000}).bound, 68);
}


TEST(OrderProblem, ReadBackwardsCostsTheSame) {
  Random random(51);
  for (int round = 0; round < 2000; ++round) {
    const OrderProblem problem = testing::random_order_problem(random, {});
    const OrderProblem backwards = reversed(problem);
    int orders = 0;
    testing::for_each_order(problem, [&](const Order& order) {
      if (++orders > 20) return;
      const std::int64_t peak = testing::peak_by_definition(problem, order);
      ASSERT_EQ(peak_of(problem, order), peak) << "round " << round;
      ASSERT_EQ(peak_of(backwards, turned(order)), peak) << "round " << round;
    });
  }
}

TEST(DownsetSearch, IsAsGoodAsAllOrdersTried) {
  Random random(52);
  int above_given = 0;
  for (int round = 0; round < 3000; ++round) {
    const OrderProblem problem = testing::random_order_problem(random, {.most_nodes = round % 10 == 0 ? 8 : 7});
    const std::int64_t least = testing::least_peak(problem);
    for (const OrderProblem& one : {problem, reversed(problem)}) {
      DownsetSearch search(one, 0);
      search.run(kNoLimit / 4, kNoLimit);
      ASSERT_TRUE(search.is_solved()) << "round " << round;
      ASSERT_EQ(search.bound(), least) << "round " << round;
      const Order order = search.order();
      ASSERT_TRUE(is_topological(one, order)) << "round " << round;
      ASSERT_EQ(peak_of(one, order), least) << "round " << round;
    }
    Order given(problem.nodes.size());
    for (OrderProblem::Index node = 0; node < given.size(); ++node) given[node] = node;
    above_given += peak_of(problem, given) > least ? 1 : 0;
  }
  EXPECT_GT(above_given, 300);  // else there was nothing to find
}

// Under a limit: either an order below it, or the proof that there is none, and both happen.
TEST(DownsetSearch, ProvesThatNothingIsBelowALimit) {
  Random random(53);
  int proven = 0;
  for (int round = 0; round < 1000; ++round) {
    const OrderProblem problem = testing::random_order_problem(random, {.most_nodes = 7});
    const std::int64_t least = testing::least_peak(problem);
    const std::int64_t limit = least + random.between(-3, 3);
    DownsetSearch search(problem, 0);
    search.run(kNoLimit / 4, limit);
    ASSERT_EQ(search.is_solved(), least < limit) << "round " << round;
    if (search.is_solved()) continue;
    ASSERT_GE(search.bound(), limit) << "round " << round;
    ASSERT_LE(limit, least);
    ++proven;
  }
  EXPECT_GT(proven, 300);
}

// Stopped early, the level is below the optimum; it never falls, and the end is the same as without a stop.
TEST(DownsetSearch, HasABoundAtAnyTime) {
  Random random(54);
  for (int round = 0; round < 500; ++round) {
    const OrderProblem problem = testing::random_order_problem(random, {.most_nodes = 8, .edge_percent = 15});
    const std::int64_t least = testing::least_peak(problem);
    DownsetSearch search(problem, 0);
    std::int64_t before = 0;
    while (!search.is_solved()) {
      search.run(1, kNoLimit);
      ASSERT_GE(search.bound(), before);
      ASSERT_LE(search.bound(), least);
      before = search.bound();
    }
    ASSERT_EQ(search.bound(), least);
  }
}

// A chain of three diamonds: the joints are comparable with all others.
TEST(PartsOf, DividesAtNodesThatAllOrdersPass) {
  OrderProblem problem;
  problem.nodes.resize(10);
  const std::vector<std::pair<int, int>> edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {3, 5},
                                                  {4, 6}, {5, 6}, {6, 7}, {6, 8}, {7, 9}, {8, 9}};
  for (const auto& [from, to] : edges) problem.nodes[to].before.push_back(from);
  const std::vector<OrderPart> parts = parts_of(problem);
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(parts[0].nodes, (Order{0}));
  EXPECT_EQ(parts[1].nodes, (Order{1, 2, 3}));
  EXPECT_EQ(parts[2].nodes, (Order{4, 5, 6}));
  EXPECT_EQ(parts[3].nodes, (Order{7, 8, 9}));
}

// The best of the whole is the worst of the parts' bests, and the orders of the parts, one after the other, are such an
// order.
TEST(PartsOf, PartsAreProblemsOfTheirOwn) {
  Random random(55);
  int divided = 0;
  for (int round = 0; round < 2000; ++round) {
    const OrderProblem problem = testing::random_order_problem(random, {.most_nodes = 8, .edge_percent = 85});
    const std::vector<OrderPart> parts = parts_of(problem);
    std::int64_t worst = problem.base;
    for (const OrderPart& part : parts) worst = std::max(worst, testing::least_peak(part.problem));
    ASSERT_EQ(worst, testing::least_peak(problem)) << "round " << round;
    divided += parts.size() > 2 ? 1 : 0;
  }
  EXPECT_GT(divided, 200);
}

TEST(SearchOrder, IsOptimalOnAllSmallProblems) {
  Random random(56);
  for (int round = 0; round < 2000; ++round) {
    const OrderProblem problem =
        testing::random_order_problem(random, {.most_nodes = 7, .edge_percent = round % 2 == 0 ? 20 : 50});
    const FoundOrder found = search_order(problem);
    const std::int64_t least = testing::least_peak(problem);
    ASSERT_TRUE(is_topological(problem, found.order));
    ASSERT_EQ(peak_of(problem, found.order), found.peak);
    ASSERT_EQ(found.peak, least) << "round " << round;
    ASSERT_EQ(found.bound, least) << "round " << round;
  }
}

// With too little work for a proof: an order no worse than the given one, and a bound that the optimum is not below.
TEST(SearchOrder, IsHonestWithLittleWork) {
  Random random(57);
  int open = 0;
  int better = 0;
  for (int round = 0; round < 300; ++round) {
    const OrderProblem problem =
        testing::random_order_problem(random, {.most_nodes = 60, .edge_percent = 4, .extras = false});
    Order given(problem.nodes.size());
    for (OrderProblem::Index node = 0; node < given.size(); ++node) given[node] = node;
    const FoundOrder little = search_order(problem, {.work = 30'000});
    const FoundOrder much = search_order(problem, {.work = 10'000'000});
    for (const FoundOrder& found : {little, much}) {
      ASSERT_TRUE(is_topological(problem, found.order));
      ASSERT_EQ(peak_of(problem, found.order), found.peak);
      ASSERT_LE(found.peak, peak_of(problem, given));
    }
    ASSERT_LE(little.bound, much.peak) << "round " << round;
    ASSERT_LE(much.bound, little.peak) << "round " << round;
    open += little.bound < little.peak ? 1 : 0;
    better += little.peak < peak_of(problem, given) ? 1 : 0;
  }
  EXPECT_GT(open, 50);
  EXPECT_GT(better, 50);
}

}  // namespace
}  // namespace lowtide
