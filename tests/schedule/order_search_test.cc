// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/orders/order_search.h"

#include <gtest/gtest.h>

#include <numeric>

#include "lowtide/schedule/orders/downset_search.h"
#include "lowtide/schedule/orders/order_state.h"
#include "tests/schedule/order_problems.h"
#include "tests/testing/graphs.h"

namespace lowtide::schedule_internal {
namespace {

using Order = std::vector<OrderProblem::Index>;

constexpr std::int64_t kAnyPeak = std::numeric_limits<std::int64_t>::max();

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
  search.run(1'000'000, kAnyPeak);
  ASSERT_TRUE(search.is_solved());
  EXPECT_EQ(search.bound(), 102);
  EXPECT_EQ(peak_of(problem, search.order()), 102);
}

// The body of a branch may have no node that counts.
TEST(OrderSearch, AnswersAProblemWithoutNodes) {
  OrderProblem problem;
  problem.base = 7;
  const FoundOrder found = OrderSearch(problem).run({.work = 1'000'000});
  EXPECT_EQ(found.peak, 7);
  EXPECT_EQ(found.bound, 7);
  EXPECT_TRUE(found.is_final);
  EXPECT_TRUE(found.order.empty());
}

// The second value may overwrite the first one, which dies then: 100 + 60 - 60.
TEST(PeakOf, CountsAResultInPlaceOnce) {
  OrderProblem problem;
  problem.values = {{.size = 100, .users = 2}, {.size = 60, .users = 1}};
  problem.nodes = {{.steps = {{.values = {0}}}},
                   {.before = {0}, .steps = {{.values = {0, 1}, .dying = {0}, .born = {1}}}}};
  EXPECT_EQ(peak_of(problem, {0, 1}), 100);
  problem.values[0].is_kept = true;
  EXPECT_EQ(peak_of(problem, {0, 1}), 160);
}

// Two concats swap the halves of a constant. Between them, none of its bytes need be in the arena. While u runs, r
// needs 64 bytes and u needs 4.
TEST(OrderProblem, BytesThatAreCopiedTwiceNeedNotStay) {
  const Graph graph = testing::graph_of(testing::kSwappedHalves);
  const OrderProblem problem = order_problem(graph, testing::dense_kernels(graph), {});
  EXPECT_LE(search_order(problem, {.work = 1'000'000}).bound, 68);
}

TEST(OrderProblem, HasTheSamePeaksIfReversed) {
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

TEST(DownsetSearch, FindsTheLeastPeakOfAllOrders) {
  Random random(52);
  int above_given = 0;
  for (int round = 0; round < 3000; ++round) {
    const OrderProblem problem = testing::random_order_problem(random, {.most_nodes = round % 10 == 0 ? 8 : 7});
    const std::int64_t least = testing::least_peak(problem);
    for (const OrderProblem& one : {problem, reversed(problem)}) {
      DownsetSearch search(one, 0);
      search.run(kAnyPeak / 4, kAnyPeak);
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
  EXPECT_GT(above_given, 300);  // otherwise there was nothing to find
}

TEST(OrderProblem, HasNoHigherPeaksWithoutSmallValues) {
  const OrderProblem coarse = without_small_values(two_branches(), 100);
  EXPECT_EQ(peak_of(coarse, {0, 1, 2, 3, 4}), 200);  // 201 with all values
  EXPECT_EQ(peak_of(coarse, {0, 2, 1, 3, 4}), 100);  // 102 with all values
  Random random(41);
  for (int round = 0; round < 200; ++round) {
    const OrderProblem problem = testing::random_order_problem(random, {});
    Order given(problem.nodes.size());
    std::iota(given.begin(), given.end(), OrderProblem::Index{0});
    EXPECT_LE(peak_of(without_small_values(problem, random.between(0, 20)), given), peak_of(problem, given)) << round;
  }
}

// With a limit, the search finds an order below it, or proves that there is none. Both happen here.
TEST(DownsetSearch, ProvesThatNothingIsBelowALimit) {
  Random random(53);
  int proven = 0;
  for (int round = 0; round < 1000; ++round) {
    const OrderProblem problem = testing::random_order_problem(random, {.most_nodes = 7});
    const std::int64_t least = testing::least_peak(problem);
    const std::int64_t limit = least + random.between(-3, 3);
    DownsetSearch search(problem, 0);
    search.run(kAnyPeak / 4, limit);
    ASSERT_EQ(search.is_solved(), least < limit) << "round " << round;
    if (search.is_solved()) continue;
    ASSERT_GE(search.bound(), limit) << "round " << round;
    ASSERT_LE(limit, least);
    ++proven;
  }
  EXPECT_GT(proven, 300);
}

// The search is interrupted often. Its bound never falls, is never above the optimum, and reaches it in the end.
TEST(DownsetSearch, HasABoundAtAnyTime) {
  Random random(54);
  for (int round = 0; round < 500; ++round) {
    const OrderProblem problem = testing::random_order_problem(random, {.most_nodes = 8, .edge_percent = 15});
    const std::int64_t least = testing::least_peak(problem);
    DownsetSearch search(problem, 0);
    std::int64_t before = 0;
    while (!search.is_solved()) {
      search.run(1, kAnyPeak);
      ASSERT_GE(search.bound(), before);
      ASSERT_LE(search.bound(), least);
      before = search.bound();
    }
    ASSERT_EQ(search.bound(), least);
  }
}

// A chain of three diamonds. The nodes that join them are separators.
TEST(SubproblemsOf, DividesAtSeparators) {
  OrderProblem problem;
  problem.nodes.resize(10);
  const std::vector<std::pair<int, int>> edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {3, 5},
                                                  {4, 6}, {5, 6}, {6, 7}, {6, 8}, {7, 9}, {8, 9}};
  for (const auto& [from, to] : edges) problem.nodes[to].before.push_back(from);
  const std::vector<OrderSubproblem> subproblems = subproblems_of(problem);
  ASSERT_EQ(subproblems.size(), 4U);
  EXPECT_EQ(subproblems[0].nodes, (Order{0}));
  EXPECT_EQ(subproblems[1].nodes, (Order{1, 2, 3}));
  EXPECT_EQ(subproblems[2].nodes, (Order{4, 5, 6}));
  EXPECT_EQ(subproblems[3].nodes, (Order{7, 8, 9}));
}

// The least peak of the whole problem is the largest of the least peaks of its subproblems.
TEST(SubproblemsOf, HaveTheLeastPeakOfTheWhole) {
  Random random(55);
  int divided = 0;
  for (int round = 0; round < 2000; ++round) {
    const OrderProblem problem = testing::random_order_problem(random, {.most_nodes = 8, .edge_percent = 85});
    const std::vector<OrderSubproblem> subproblems = subproblems_of(problem);
    std::int64_t worst = problem.base;
    for (const OrderSubproblem& one : subproblems) worst = std::max(worst, testing::least_peak(one.problem));
    ASSERT_EQ(worst, testing::least_peak(problem)) << "round " << round;
    divided += subproblems.size() > 2 ? 1 : 0;
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

// With too little work for a proof, the order is no worse than the given one, and the bound is not above the optimum.
TEST(SearchOrder, IsValidWithLittleWork) {
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

// With a stride, the level rises in larger steps. So the order may not be the best, but the optimum is at least the
// bound.
TEST(DownsetSearch, WithAStrideTheOptimumIsBetweenBoundAndOrder) {
  Random random(58);
  int above = 0;
  for (int round = 0; round < 2000; ++round) {
    const OrderProblem problem = testing::random_order_problem(random, {.most_nodes = 7});
    const std::int64_t least = testing::least_peak(problem);
    const std::int64_t limit = least + random.between(-2, 20);
    DownsetSearch search(problem, 0, {.stride = random.between(1, 15)});
    search.run(kAnyPeak / 4, limit);
    ASSERT_LE(search.bound(), std::max(least, limit)) << "round " << round;
    ASSERT_TRUE(search.is_solved() || limit <= least) << "round " << round;
    if (!search.is_solved()) continue;
    ASSERT_LE(search.bound(), least) << "round " << round;
    const std::int64_t peak = peak_of(problem, search.order());
    ASSERT_GE(peak, least) << "round " << round;
    ASSERT_LT(peak, limit) << "round " << round;
    above += peak > least ? 1 : 0;
  }
  EXPECT_GT(above, 20);  // otherwise the stride changed nothing
}

// A tree in which each inner node reads four results. All results have 16 bytes.
OrderProblem tree(int levels) {
  OrderProblem problem;
  std::vector<OrderProblem::Index> waiting;  // results of the level before; each node reads four
  std::size_t count = std::size_t{1} << (2 * (levels - 1));
  for (; count > 0; count /= 4) {
    std::vector<OrderProblem::Index> made;
    for (std::size_t at = 0; at < count; ++at) {
      const auto node = static_cast<OrderProblem::Index>(problem.nodes.size());
      problem.nodes.push_back({.steps = {{.values = {node}}}});
      problem.values.push_back({.size = 16, .users = 1});
      for (std::size_t child = 4 * at; child < 4 * at + 4 && child < waiting.size(); ++child) {
        problem.nodes[node].before.push_back(waiting[child]);
        problem.nodes[node].steps[0].values.push_back(waiting[child]);
        ++problem.values[waiting[child]].users;
      }
      std::sort(problem.nodes[node].steps[0].values.begin(), problem.nodes[node].steps[0].values.end());
      made.push_back(node);
    }
    waiting = std::move(made);
  }
  problem.values.back().is_kept = true;
  return problem;
}

// A tree with 4^7 leaves and 21,845 nodes, as in a hostile file. The best order is depth first. While a node reads four
// leaves, three results wait on each of six levels. With the leaves and its result, that is 6 x 3 + 4 + 1 = 23.
TEST(SearchOrder, WorkCountsMoreThanSets) {
  const OrderProblem problem = tree(8);
  ASSERT_EQ(problem.nodes.size(), 21'845U);
  const FoundOrder found = search_order(problem, {.work = 200'000'000});
  EXPECT_LE(found.work, 220'000'000);  // 440,000,000 if only sets counted as work
  EXPECT_EQ(found.peak, 23 * 16);
  EXPECT_EQ(found.bound, 23 * 16);
}

// Layers of `width` nodes, each of which reads three random nodes of the layer before. No effort proves the best order.
OrderProblem wide_layers(Random& random, OrderProblem::Index layers, OrderProblem::Index width = 60) {
  OrderProblem problem;
  for (OrderProblem::Index node = 0; node < layers * width; ++node) {
    problem.values.push_back({.size = random.between(1, 600)});
    problem.nodes.push_back({.steps = {{.values = {node}}}});
    for (int read = 0; read < 3 && node >= width; ++read) {
      const auto before = static_cast<OrderProblem::Index>((node / width - 1) * width + random.below(width));
      problem.nodes[node].before.push_back(before);
      problem.nodes[node].steps[0].values.push_back(before);
    }
    for (std::vector<OrderProblem::Index>* list : {&problem.nodes[node].before, &problem.nodes[node].steps[0].values}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    for (OrderProblem::Index value : problem.nodes[node].steps[0].values) ++problem.values[value].users;
  }
  return problem;
}

// A set of 1,200 nodes takes 19 words, and kBytesPerSet bytes in the tables. A search whose memory is full ends early,
// and reports that more work would not help.
TEST(SearchOrder, KeepsToItsMemoryLimit) {
  Random random(59);
  const OrderProblem problem = wide_layers(random, 20);
  constexpr std::int64_t kBytesOfSet = 19 * 8 + DownsetSearch::kBytesPerSet;
  DownsetSearch search(problem, 0, {.bytes = 1000 * kBytesOfSet});
  search.run(kAnyPeak / 4, kAnyPeak);
  EXPECT_TRUE(search.is_full());
  EXPECT_EQ(search.sets(), 1000);

  const FoundOrder little = search_order(problem, {.work = 4'000'000'000, .bytes = 2000 * kBytesOfSet});
  EXPECT_TRUE(little.is_final);
  EXPECT_LT(little.work, 2'000'000'000);
  EXPECT_LT(little.bound, little.peak);
  const FoundOrder unfinished = search_order(problem, {.work = 1'000'000});
  EXPECT_FALSE(unfinished.is_final);
  EXPECT_LE(unfinished.work, 1'500'000);
}

// Each step examines all of 2,000 ready nodes. This counts as work, so the search ends soon after its work is spent.
TEST(SearchOrder, AWideProblemKeepsToItsWork) {
  Random random(61);
  const OrderProblem problem = wide_layers(random, 4, 2'000);
  constexpr std::int64_t kWork = 40'000'000;
  const FoundOrder found = search_order(problem, {.work = kWork});
  EXPECT_FALSE(found.is_final);
  EXPECT_GE(found.work, kWork / 2);
  EXPECT_LE(found.work, kWork + kWork / 4);
}

// 20,000 nodes read one value, and one node reads all of their results. The work is proportional to the edges.
TEST(SearchOrder, AHubTakesLinearWork) {
  constexpr OrderProblem::Index kSpokes = 20'000;
  OrderProblem problem;
  problem.values = {{.size = 100, .users = kSpokes + 1}};
  problem.nodes = {{.steps = {{.values = {0}}}}};
  OrderProblem::Node last{.steps = {{}}};
  for (OrderProblem::Index node = 1; node <= kSpokes; ++node) {
    problem.values.push_back({.size = 1, .users = 2});
    problem.nodes.push_back({.before = {0}, .steps = {{.values = {0, node}}}});
    last.before.push_back(node);
    last.steps[0].values.push_back(node);
  }
  problem.nodes.push_back(std::move(last));
  const FoundOrder found = search_order(problem, {.work = 100'000'000});
  EXPECT_EQ(found.peak, 100 + kSpokes);
  EXPECT_LE(found.work, 10'000'000);
}

}  // namespace
}  // namespace lowtide::schedule_internal
