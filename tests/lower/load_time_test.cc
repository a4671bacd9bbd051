// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/load/load_time.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string_view>

#include "lowtide/graph/text.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

LoadTimeSplit split_of(std::string_view text, std::optional<std::uint32_t> constants = std::nullopt) {
  Result<LoadTimeSplit> split = split_load_time(testing::graph_of(text), constants);
  if (!split) throw std::runtime_error(split.error().describe());
  return *std::move(split);
}

void expect_graph(const Graph& graph, std::string_view expected) {
  EXPECT_EQ(print_graph(graph), print_graph(testing::graph_of(expected)));
}

TEST(LoadTime, WorkOnConstantsRunsOnce) {
  const LoadTimeSplit split = split_of(R"(graph "g" {
    input x : f32[4]
    constant a : f32[2]
    constant b : f32[2]
    constant c : f32[4]
    w = Concat(a, b) {axis = 0} : f32[4]
    v = Neg(w) : f32[4]
    u = Add(x, v) : f32[4]
    y = Add(u, c) : f32[4]
    output y
  })");
  expect_graph(split.run->graph, R"(graph "g" {
    input x : f32[4]
    constant c : f32[4]
    u = Add(x, v) : f32[4]
    y = Add(u, c) : f32[4]
    constant v : f32[4]
    output y
  })");
  expect_graph(split.load, R"(graph "g" {
    constant a : f32[2]
    constant b : f32[2]
    w = Concat(a, b) {axis = 0} : f32[4]
    v = Neg(w) : f32[4]
    output v
  })");
}

// The table has 4 entries. Output k of the load-time work becomes constant 4 + k.
TEST(LoadTime, ResultsGetEntriesAfterThoseOfTheModel) {
  const LoadTimeSplit split = split_of(R"(graph "g" {
    input x : f32[4]
    constant a : f32[4] data 3
    constant c : f32[4] data 1
    v = Neg(a) : f32[4]
    w = Exp(v) : f32[4]
    u = Add(x, v) : f32[4]
    t = Add(u, c) : f32[4]
    y = Add(t, w) : f32[4]
    output y
  })",
                                       4);
  expect_graph(split.run->graph, R"(graph "g" {
    input x : f32[4]
    constant c : f32[4] data 1
    u = Add(x, v) : f32[4]
    t = Add(u, c) : f32[4]
    y = Add(t, w) : f32[4]
    constant v : f32[4] data 4
    constant w : f32[4] data 5
    output y
  })");
  expect_graph(split.load, R"(graph "g" {
    constant a : f32[4] data 3
    v = Neg(a) : f32[4]
    w = Exp(v) : f32[4]
    output v, w
  })");
}

// Both branches read the result of the outer graph. The first has load-time work of its own, which also reads it.
TEST(LoadTime, BodiesReadResultsAndHaveWorkOfTheirOwn) {
  const LoadTimeSplit split = split_of(R"(graph "g" {
    input p : bool[]
    input x : f32[4]
    constant a : f32[4]
    w = Neg(a) : f32[4]
    y = If(p) "choose" {
      then_branch = graph "t" captures (x, w) {
        captured input x : f32[4]
        captured input w : f32[4]
        constant k : f32[4]
        m = Mul(w, k) : f32[4]
        r = Add(x, m) : f32[4]
        output r
      },
      else_branch = graph "e" captures (x, w) {
        captured input x : f32[4]
        captured input w : f32[4]
        s = Add(x, w) : f32[4]
        output s
      }
    } : f32[4]
    output y
  })");
  expect_graph(split.run->graph, R"(graph "g" {
    input p : bool[]
    input x : f32[4]
    y = If(p) "choose" {
      then_branch = graph "t" captures (x) {
        captured input x : f32[4]
        r = Add(x, m) : f32[4]
        constant m : f32[4]
        output r
      },
      else_branch = graph "e" captures (x, w) {
        captured input x : f32[4]
        s = Add(x, w) : f32[4]
        captured constant w : f32[4]
        output s
      }
    } : f32[4]
    constant w : f32[4]
    output y
  })");
  expect_graph(split.load, R"(graph "g" {
    constant a : f32[4]
    w = Neg(a) : f32[4]
    constant "choose/then_branch/k" : f32[4]
    "choose/then_branch/m" = Mul(w, "choose/then_branch/k") : f32[4]
    output w, "choose/then_branch/m"
  })");
}

// The training mode of the second is not known, so it may drop elements at random.
TEST(LoadTime, OnlyADropoutThatDropsNothingIsDoneOnce) {
  const LoadTimeSplit split = split_of(R"(graph "g" {
    input x : f32[4]
    input t : bool[]
    constant a : f32[4]
    constant r : f32[]
    constant off : bool[] = [0]
    p = Dropout(a, r, off) : f32[4]
    q = Dropout(a, r, t) : f32[4]
    constant on : bool[] = [1]
    s = Dropout(a, r, on) : f32[4]
    y = Sum(x, p, q, s) : f32[4]
    output y
  })");
  EXPECT_EQ(split.load.nodes().size(), 1U);
  EXPECT_EQ(split.run->graph.nodes().size(), 3U);
}

// The number of elements that are not zero is known only once `q` is computed. So `i` and what reads it stay, and `q`
// is a constant.
TEST(LoadTime, ResultsWhoseSizesDependOnDataAreMadeInEveryRun) {
  const LoadTimeSplit split = split_of(R"(graph "g" {
    input x : f32[4]
    constant c : f32[4]
    q = Neg(c) : f32[4]
    i = NonZero(q) : i64[1,<=4]
    s = ReduceSum(i) {keepdims = 0} : i64[]
    y = Relu(x) : f32[4]
    output i, s, y
  })");
  expect_graph(split.run->graph, R"(graph "g" {
    input x : f32[4]
    i = NonZero(q) : i64[1,<=4]
    s = ReduceSum(i) {keepdims = 0} : i64[]
    y = Relu(x) : f32[4]
    constant q : f32[4]
    output i, s, y
  })");
  expect_graph(split.load, R"(graph "g" {
    constant c : f32[4]
    q = Neg(c) : f32[4]
    output q
  })");
}

TEST(LoadTime, RandomNumbersAndNextStatesAreMadeInEveryRun) {
  const std::string_view text = R"(graph "g" {
    input x : f32[4]
    constant a : f32[4]
    state h : f32[4]
    r = RandomNormalLike(a) : f32[4]
    n = Neg(a) : f32[4]
    y = Add(x, r) : f32[4]
    z = Add(y, h) : f32[4]
    output z
    update h = n
  })";
  const LoadTimeSplit split = split_of(text);
  EXPECT_FALSE(split.run) << "the graph stays as it is";
  EXPECT_EQ(split.load.nodes().size(), 0U);
}

}  // namespace
}  // namespace lowtide
