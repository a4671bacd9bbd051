// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "lowtide/pipeline/planned_graph.h"
#include "tests/pipeline/odd_targets.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"
#include "tests/verify/interleavings.h"

namespace lowtide::testing {
namespace {

const TradeOff& chosen(const PlannedGraph& planned) {
  return *std::find_if(planned.trade_offs.begin(), planned.trade_offs.end(),
                       [](const auto& one) { return one.is_chosen; });
}

// What is live in a sequence of kBranches: a | a c | c b | c b d | c d e, 3 x 64.
// Waves of two: a b | c d | e, with a b c d in the second: 4 x 64.
TEST(PlanGraphWaves, MoreMemoryAllowsFewerWaves) {
  const Graph graph = graph_of(kBranches);
  const PlannedGraph tight = must_plan(graph, {.streams = 2, .run = ExecutionModel::waves});
  EXPECT_EQ(arena_bytes(tight.plan), Bytes(3 * 64));
  const PlannedGraph large = must_plan(graph, {.streams = 2, .run = ExecutionModel::waves, .arena_slack_percent = 40});
  EXPECT_EQ(arena_bytes(large.plan), Bytes(4 * 64));
  EXPECT_EQ(chosen(large).run, ExecutionModel::waves);
  EXPECT_EQ(large.plan.execution, ExecutionModel::waves);
  EXPECT_EQ(chosen(large).waves, 3U);
  // c and d each wait for the node of the other stream, and e waits for one of the two.
  EXPECT_EQ(chosen(large).waits, 3);
  // 1 us to start and 0.1 ns per byte: 128 bytes for a to d, 192 for e, and 0.04 ns for each of its 16 products.
  EXPECT_EQ(chosen(large).picoseconds, 2 * 1'012'800 + 1'019'840);
  EXPECT_LT(chosen(large).picoseconds, chosen(tight).picoseconds);
}

// Checks that all steps of a wave come before all of the next, and that the steps of one wave are unordered. The wave
// of a step is the length of the longest chain before it. Returns what is wrong, or an empty text.
std::string defect_of_waves(const Plan& plan) {
  const std::size_t steps = plan.program.steps.size();
  std::vector<std::vector<char>> is_before(steps, std::vector<char>(steps, 0));
  std::vector<std::uint32_t> wave(steps, 0);
  std::vector<std::uint32_t> count(steps, 0);
  for (std::size_t at = 0; at < steps; ++at) {
    const Step& step = plan.program.steps[StepId(static_cast<std::uint32_t>(at))];
    std::vector<StepId> before = step.after;
    for (std::size_t other = 0; other < at; ++other) {
      const StepId id(static_cast<std::uint32_t>(other));
      if (plan.program.steps[id].stream == step.stream) before.push_back(id);
    }
    for (StepId id : before) {
      wave[at] = std::max(wave[at], wave[id.index()] + 1);
      is_before[at][id.index()] = 1;
      for (std::size_t other = 0; other < steps; ++other) is_before[at][other] |= is_before[id.index()][other];
    }
    if (++count[wave[at]] > plan.program.streams.size()) return "too many in wave " + std::to_string(wave[at]);
  }
  for (std::size_t a = 0; a < steps; ++a) {
    for (std::size_t b = 0; b < steps; ++b) {
      if ((is_before[b][a] != 0) != (wave[a] < wave[b])) return std::to_string(a) + " and " + std::to_string(b);
    }
  }
  return {};
}

// Every trade-off point is verified, and every run of the plan is correct. Steps happen before others exactly as
// barriers require.
TEST(PlanGraphWaves, PlansOfRandomGraphsAreCorrect) {
  int waves = 0;
  int faster = 0;
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    Random random(seed);
    const Graph graph = random_graph(random, static_cast<int>(random.between(4, 8)));
    const int slack = static_cast<int>(random.between(0, 60));
    const PlannedGraph planned = must_plan(graph,
                                           {.streams = static_cast<std::uint32_t>(random.between(2, 3)),
                                            .run = ExecutionModel::waves,
                                            .arena_slack_percent = slack,
                                            .pareto_front = random.chance(30)},
                                           random_target(random));
    const TradeOff& one = planned.trade_offs[0];
    ASSERT_LE(chosen(planned).picoseconds, one.picoseconds) << seed;
    ASSERT_LE(chosen(planned).arena.count(), one.arena.count() * (100 + slack) / 100) << seed;
    ASSERT_EQ(chosen(planned).arena, arena_bytes(planned.plan)) << seed;
    for (const TradeOff& point : planned.trade_offs) {
      if (point.run != ExecutionModel::waves || !point.cap) continue;
      ASSERT_LE(point.load, std::max(*point.cap, one.load)) << seed;
    }
    if (chosen(planned).run == ExecutionModel::sequence) continue;
    ASSERT_EQ(chosen(planned).run, ExecutionModel::waves) << seed;
    ++waves;
    if (chosen(planned).picoseconds < one.picoseconds) ++faster;
    ASSERT_EQ(defect_of_waves(planned.plan), "") << seed;
    ASSERT_EQ(fault_of_some_run(graph, planned.plan), "") << seed;
  }
  EXPECT_GT(waves, 60);
  EXPECT_GT(faster, 60);
}

}  // namespace
}  // namespace lowtide::testing
