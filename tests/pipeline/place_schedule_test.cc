// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/place/place_schedule.h"

#include <gtest/gtest.h>

#include "lowtide/base/random.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/schedule/other_order.h"
#include "tests/campaign.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::pipeline_internal {
namespace {

using testing::dense_kernels;
using testing::graph_of;

struct Arenas {
  Bytes load;
  Bytes plain;      // of the order as it is
  Bytes same;       // with other ways to share
  Bytes reordered;  // with other orders as well
};

Arenas arenas_of(const Graph& graph) {
  const ChosenKernels kernels = dense_kernels(graph);
  const AliasOptions aliases{.alignment = Bytes(4)};
  const OrderChoice choice = schedule(graph, kernels, {.aliases = aliases}).value();
  const std::vector<PlannedBodies> bodies;
  const Machine machine{
      .regions = {{.name = "arena", .alignment = Bytes(4)}}, .links = {}, .workers = {{.name = "cpu"}}};
  PlaceInput input{{graph, kernels, bodies, machine}, aliases, 2'000'000};
  const PlacedSchedule first = place_schedule(input, choice.best).value();
  Arenas arenas{.load = choice.best.load, .plain = arena_bytes(first.plan)};
  arenas.same = arena_bytes(refine_placement(input, first, choice.runners_up)->plan);
  input.may_reorder = true;
  const PlacedSchedule placed = refine_placement(input, first, choice.runners_up).value();
  EXPECT_TRUE(testing::is_topological(graph, placed.schedule.order));
  EXPECT_LE(placed.schedule.load, arena_bytes(placed.plan));
  arenas.reordered = arena_bytes(placed.plan);
  return arenas;
}

TEST(PlaceSchedule, LowersArenasOfRandomGraphsAndRaisesNone) {
  Random random(61);
  int above_peak = 0;
  int left = 0;
  int lowered_by_sharing = 0;
  for (int round = 0; round < testing::sampled(1'500); ++round) {
    const Graph graph = testing::random_graph(random, static_cast<int>(random.between(10, 30)));
    const Arenas arenas = arenas_of(graph);
    ASSERT_LE(arenas.same, arenas.plain) << "round " << round;
    ASSERT_LE(arenas.reordered, arenas.plain) << "round " << round;
    above_peak += arenas.plain > arenas.load ? 1 : 0;
    left += arenas.reordered > arenas.load ? 1 : 0;
    lowered_by_sharing += arenas.same < arenas.plain ? 1 : 0;
  }
  // Measured: 166 arenas are above the peak. 27 of them get lower in the same order, and 28 reach the peak.
  EXPECT_GT(above_peak, testing::sampled(100));
  EXPECT_GE(lowered_by_sharing, testing::sampled(15));
  EXPECT_GE(above_peak - left, testing::sampled(20));
}

// In units of 64 bytes: a and b are parts of c (8). w (8) is live only before b is written. Without parts, c, w and v
// are live together: 8 + 8 + 1. With parts, a, w and v are: 4 + 8 + 1. Then w uses the bytes of b.
constexpr const char* kConcatAroundAPeak = R"(graph "g" {
  input x : f32[1]
  a = Conv(x) : f32[1,64]
  w = Conv(a) : f32[128]
  v = Conv(w, a) : f32[16]
  b = Conv(v) : f32[1,64]
  c = Concat(a, b) {axis = 1} : f32[1,128]
  y = Conv(c, v) : f32[16]
  output y
})";

TEST(PlanGraphParts, LetOthersUseBytesThatAreNotWrittenYet) {
  const Graph graph = graph_of(kConcatAroundAPeak);
  const PlannedGraph planned = plan_graph(graph, dense_target()).value();
  EXPECT_TRUE(planned.violations.empty());
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(64 * 13));
  EXPECT_EQ(bound_of(planned.plan).bytes, Bytes(64 * 13));
  for (const Step& step : planned.plan.program.steps) {
    EXPECT_EQ(is_alias(step), graph.op(*node_of(step)).type == "Concat");
  }
}

// Without parts, the concat copies: a, b, c and v need 4 + 4 + 8 + 1.
TEST(PlanGraphParts, CanBeSwitchedOff) {
  const Graph graph = graph_of(kConcatAroundAPeak);
  const PlannedGraph planned = plan_graph(graph, dense_target(), {.parts = false}).value();
  EXPECT_TRUE(planned.violations.empty());
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(64 * 17));
  for (const Buffer& buffer : planned.plan.layout.buffers) EXPECT_TRUE(buffer.parts.empty());
}

// On two streams, plans are correct and have parts, too.
TEST(PlanGraphParts, AreUsedOnSeveralStreamsToo) {
  Random random(62);
  int with_parts = 0;
  for (int round = 0; round < 300; ++round) {
    const Graph graph = testing::random_graph(random, static_cast<int>(random.between(4, 16)));
    const PlannedGraph planned = plan_graph(graph, dense_target(), {.streams = 2, .arena_slack_percent = 100}).value();
    ASSERT_TRUE(planned.violations.empty()) << planned.violations.front().message;
    for (const Buffer& buffer : planned.plan.layout.buffers) {
      with_parts += planned.plan.program.streams.size() > 1 && !buffer.parts.empty() ? 1 : 0;
    }
  }
  EXPECT_GT(with_parts, 50);
}

}  // namespace
}  // namespace lowtide::pipeline_internal
