// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/memory/outputs_at_caller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "lowtide/graph/text.h"
#include "lowtide/lower/lower.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/share/load.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/after_pass.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"
#include "tests/verify/interleavings.h"

namespace lowtide::testing {
namespace {

Graph at_caller(const Graph& graph) { return after_pass(graph, place_outputs_at_caller(graph)); }

Bytes least_load_of_all_orders(const Graph& graph) {
  const ChosenKernels kernels = dense_kernels(graph);
  const AliasOptions options{.alignment = Bytes(64)};
  Bytes least(std::numeric_limits<std::int64_t>::max());
  for_every_order(graph, [&](const std::vector<NodeId>& order) {
    const AliasClasses classes = alias_classes(graph, kernels, order, options);
    least = std::min(least, largest(load_profile(classes, kernels, order, options)));
  });
  return least;
}

// The bound holds for the best of all orders, independent code confirms it, and no plan needs more than with the
// outputs in the arena.
TEST(OutputsAtCaller, NeedNoMoreThanInTheArena) {
  Random random(94);
  int proven = 0;
  int lower = 0;
  constexpr int kRounds = 600;
  for (int round = 0; round < kRounds; ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(2, 7)));
    const Graph placed = at_caller(graph);
    const PlannedGraph planned = must_plan(placed, {.bound_check_effort = 100'000'000});
    ASSERT_EQ(planned.bound_check.verdict, OrderBoundVerdict::confirmed) << "round " << round << print_graph(placed);
    ASSERT_LE(bound_of(planned.plan).bytes, least_load_of_all_orders(placed)) << print_graph(placed);
    const Bytes in_arena = arena_bytes(must_plan(graph).plan);
    ASSERT_LE(arena_bytes(planned.plan), in_arena) << "round " << round << print_graph(placed);
    proven += planned.plan.claims.schedule_optimal ? 1 : 0;
    lower += arena_bytes(planned.plan) < in_arena ? 1 : 0;
  }
  EXPECT_GT(proven, kRounds * 8 / 10);
  EXPECT_GT(lower, kRounds / 2);
}

// s may lie in the memory of c, and the two halves are copied out of it. So no byte must be in the arena.
TEST(OutputsAtCaller, MayHoldTheTensorsThatTheyAreViewsOf) {
  const PlannedGraph planned = must_plan(at_caller(graph_of(R"(graph "g" {
    input x : f32[64]
    s = Relu(x) : f32[64]
    a, b = Split(s) {axis = 0, split = [32, 32]} : f32[32], f32[32]
    c = Concat(a, b) {axis = 0} : f32[64]
    output a, b, c
  })")),
                                         {.bound_check_effort = 1'000'000});
  EXPECT_EQ(bound_of(planned.plan).bytes, Bytes(0));
  EXPECT_EQ(planned.bound_check.verdict, OrderBoundVerdict::confirmed);
}

// x and z may be copied into the memory of n first. t is then a view of these copies.
TEST(OutputsAtCaller, MayHoldCopiesOfInputsForSeveralConcats) {
  const PlannedGraph planned = must_plan(at_caller(graph_of(R"(graph "g" {
    input x : f32[16]
    input z : f32[16]
    t = Concat(x, z) {axis = 0} : f32[32]
    b = Relu(t) : f32[32]
    n = Concat(x, z, b) {axis = 0} : f32[64]
    output n
  })")),
                                         {.bound_check_effort = 1'000'000});
  EXPECT_EQ(bound_of(planned.plan).bytes, Bytes(0));
  EXPECT_EQ(planned.bound_check.verdict, OrderBoundVerdict::confirmed);
}

// y is the same bytes as the input, which the caller writes into the arena: 64 for x.
TEST(OutputsAtCaller, LeaveInputsInTheArena) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    y = Identity(x) : f32[16]
    output y
  })");
  const Result<Lowered> lowered =
      lower(graph, {.passes = {PassId::load_time, PassId::inputs_in_arena, PassId::outputs_at_caller}});
  ASSERT_TRUE(lowered.ok());
  EXPECT_EQ(arena_bytes(must_plan(lowered->graph).plan), Bytes(64));
}

TEST(OutputsAtCaller, AreRightInEveryRunOfSeveralStreams) {
  Random random(95);
  for (int round = 0; round < 60; ++round) {
    const Graph placed = at_caller(random_graph(random, static_cast<int>(random.between(4, 9))));
    for (ExecutionModel run : {ExecutionModel::streams, ExecutionModel::waves, ExecutionModel::dataflow}) {
      const PlannedGraph planned = must_plan(placed, {.streams = 2, .run = run, .arena_slack_percent = 400});
      ASSERT_EQ(fault_of_some_run(placed, planned.plan), "") << to_string(run) << print_graph(placed);
    }
  }
}

}  // namespace
}  // namespace lowtide::testing
