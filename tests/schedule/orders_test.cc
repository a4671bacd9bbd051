// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/orders/heuristics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lowtide/schedule/schedule.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

// Each order, on a graph where it differs from others.
namespace lowtide::schedule_internal {
namespace {

using testing::dense_kernels;
using testing::graph_of;

std::string names(const Graph& graph, const std::vector<NodeId>& order) { return testing::names_of(graph, order, " "); }

// Two convolutions with copies of their weights. The graph lists the copy for the second one first.
TEST(LongestPath, NodesWithShortPathsRunLate) {
  const Graph graph = graph_of(R"(graph "g" {
    input data : f32[1]
    input w0 : f32[1]
    input w2 : f32[1]
    c2 = Copy(w2) : f32[1]
    c0 = Copy(w0) : f32[1]
    v0 = Conv(data, c0) : f32[1]
    v2 = Conv(c2, v0) : f32[1]
    output v2
  })");
  EXPECT_EQ(names(graph, as_given(graph)), "c2 c0 v0 v2");
  EXPECT_EQ(names(graph, longest_path(graph)), "c0 v0 c2 v2");
  EXPECT_EQ(names(graph, deepest_input_first(graph)), "c0 v0 c2 v2");
  EXPECT_EQ(names(graph, depth_first(graph)), "c2 c0 v0 v2");
}

// The path to d3 has one edge, and that to v2 has two. Outputs are sorted, too.
TEST(LongestPath, ShorterBranchesComeLast) {
  const Graph graph = graph_of(R"(graph "g" {
    input data : f32[1]
    input d1 : f32[1]
    input w0 : f32[1]
    input w2 : f32[1]
    d2 = Copy(d1) : f32[1]
    d3 = Copy(d2) : f32[1]
    c2 = Copy(w2) : f32[1]
    c0 = Copy(w0) : f32[1]
    v0 = Conv(data, c0) : f32[1]
    v2 = Conv(v0, c2) : f32[1]
    output d3, v2
  })");
  EXPECT_EQ(names(graph, longest_path(graph)), "c0 v0 c2 v2 d2 d3");
  EXPECT_EQ(names(graph, deepest_input_first(graph)), "c0 v0 c2 v2 d2 d3");
  EXPECT_EQ(names(graph, depth_first(graph)), "d2 d3 c0 v0 c2 v2");
}

TEST(LongestPath, AcceptsASingleNode) {
  const Graph graph = graph_of("graph \"g\" {\n input x : f32[1]\n y = Conv(x) : f32[1]\n output y\n}");
  for (const auto order : {as_given, depth_first, longest_path, deepest_input_first, depth_first_by_fan_out,
                           reverse_post_order, breadth_first, greedy_by_freed_bytes, least_peak_first}) {
    EXPECT_EQ(names(graph, order(graph)), "y");
  }
}

constexpr const char* kTwoRows = R"(graph "g" {
  input x : f32[1]
  b = Conv(x) : f32[1]
  c = Conv(b) : f32[1]
  a = Conv(x) : f32[1]
  d = Conv(a, c) : f32[1]
  output d
})";

// The walk from a finishes d and then a. The walk from b finishes c and then b. Reversed, this is b c a d.
TEST(ReversePostOrder, WalksFromTheSources) {
  const Graph graph = graph_of(kTwoRows);
  EXPECT_EQ(names(graph, reverse_post_order(graph)), "b c a d");
  EXPECT_EQ(names(graph, depth_first(graph)), "a b c d");  // from the output, inputs in their order
}

TEST(ReversePostOrder, FinishesABranchBeforeTheNext) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[1]
    b = Conv(x) : f32[1]
    c = Conv(a) : f32[1]
    d = Conv(b) : f32[1]
    e = Conv(c, d) : f32[1]
    output e
  })");
  EXPECT_EQ(names(graph, reverse_post_order(graph)), "a c b d e");
  EXPECT_EQ(names(graph, breadth_first(graph)), "a b c d e");
}

TEST(BreadthFirst, IsByDistanceFromTheSources) {
  const Graph graph = graph_of(kTwoRows);
  EXPECT_EQ(names(graph, breadth_first(graph)), "b a c d");  // distances 0 0 1 2; ties as given
}

// q comes before r and has two readers, s and r. No node comes before p.
TEST(DepthFirstByFanOut, TheInputWithMoreReadersBeforeItComesFirst) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    p = Conv(x) : f32[1]
    q = Conv(x) : f32[1]
    s = Conv(q) : f32[1]
    r = Conv(q, s) : f32[1]
    e = Conv(p, r) : f32[1]
    output e
  })");
  EXPECT_EQ(names(graph, depth_first_by_fan_out(graph)), "q s r p e");
  EXPECT_EQ(names(graph, depth_first(graph)), "p q s r e");
}

TEST(DepthFirstByFanOut, AmongEqualsTheOneWithMoreBytesComesFirst) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[1]
    b = Conv(x) : f32[2]
    c = Conv(a, b) : f32[1]
    output c
  })");
  EXPECT_EQ(names(graph, depth_first_by_fan_out(graph)), "b a c");
}

// While q runs, 121 floats are live, and after a, 100 are. u would need 190 and free 10 in the end. v needs only 101.
TEST(LeastPeakFirst, TakesWhatDoesNotRaiseThePeakFirst) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    p = Conv(x) : f32[120]
    q = Conv(p) : f32[1]
    a = Conv(q) : f32[100]
    u = Conv(a) : f32[90]
    v = Conv(x) after (a) : f32[1]
    e = Conv(u, v) : f32[1]
    output e
  })");
  EXPECT_EQ(names(graph, least_peak_first(graph)), "p q a v u e");
  EXPECT_EQ(names(graph, greedy_by_freed_bytes(graph)), "p q a u v e");
}

// Both ready nodes raise the peak, and b raises it least. Then comes a, because c waits for it.
TEST(LeastPeakFirst, RaisesThePeakAsLittleAsPossible) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[100]
    b = Conv(x) : f32[2]
    c = Conv(a) : f32[1]
    e = Conv(b, c) : f32[1]
    output e
  })");
  EXPECT_EQ(names(graph, least_peak_first(graph)), "b a c e");
}

// The result has the lowest load of the three strategies, and the order of one of them.
TEST(BestOf, IsTheBestOfItsThree) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> choices = {
      {"best_of_xla", {"depth_first", "greedy_by_freed_bytes", "depth_first_by_fan_out"}},
      {"best_of_inductor", {"depth_first", "breadth_first", "least_peak_first"}}};
  Random random(23);
  int differ = 0;
  for (int round = 0; round < 100; ++round) {
    const Graph graph = testing::random_graph(random, 20);
    for (const auto& [choice, strategies] : choices) {
      const Result<OrderChoice> best = schedule(graph, dense_kernels(graph), {.order = choice});
      ASSERT_TRUE(best.ok());
      EXPECT_EQ(std::count(strategies.begin(), strategies.end(), best->best.strategy), 1) << best->best.strategy;
      Bytes least(std::int64_t{1} << 60);
      Bytes most;
      for (const std::string& strategy : strategies) {
        const Bytes load = schedule(graph, dense_kernels(graph), {.order = strategy})->best.load;
        least = std::min(least, load);
        most = std::max(most, load);
      }
      EXPECT_EQ(best->best.load, least) << choice;
      EXPECT_EQ(best->tried.size(), 3U);
      if (least != most) ++differ;
    }
  }
  EXPECT_GT(differ, 50);  // of 200; otherwise there was nothing to choose
}

}  // namespace
}  // namespace lowtide::schedule_internal
