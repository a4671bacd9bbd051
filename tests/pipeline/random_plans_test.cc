// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/schedule/schedule.h"
#include "tests/campaign.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"
#include "tests/verify/order_facts.h"

namespace lowtide::testing {
namespace {

// Every plan of a random graph is correct, lies between its bound and no reuse, and is the same if made again.
TEST(RandomPlans, AreVerifiedAndBounded) {
  Random random(99);
  int without_fragmentation = 0;
  int optimal = 0;
  const int rounds = testing::sampled(2'000);
  for (int round = 0; round < rounds; ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(1, 30)));
    Target target = dense_target();
    target.machine.regions[0].alignment = Bytes(std::int64_t{1} << random.below(9));
    const bool in_place = random.chance(80);
    const PlannedGraph planned = must_plan(graph, {.in_place = in_place}, target);
    const Claims& claims = planned.plan.claims;
    const Bytes arena = arena_bytes(planned.plan);
    ASSERT_LE(bound_of(planned.plan).bytes, claims.load);
    // Without writes in place, no bound is claimed for all plans.
    const Bound* of_all = best_bound(claims, BoundScope::all_plans);
    ASSERT_EQ(of_all != nullptr, in_place);
    if (in_place) {
      ASSERT_LE(of_all->bytes, bound_of(planned.plan).bytes);
    }
    ASSERT_LE(claims.load, arena);
    Bytes no_reuse;
    for (const Tensor& tensor : graph.tensors()) {
      if (tensor.producer) no_reuse += round_up(tensor.size, target.machine.regions[0].alignment);
    }
    ASSERT_LE(arena, no_reuse);
    without_fragmentation += claims.load == arena ? 1 : 0;
    optimal += bound_of(planned.plan).bytes == arena ? 1 : 0;
    if (round % 50 == 0) {
      const PlannedGraph again = must_plan(graph, {}, target);
      const PlannedGraph twice = must_plan(graph, {}, target);
      EXPECT_EQ(again.plan.layout.buffers, twice.plan.layout.buffers);
      EXPECT_EQ(again.plan.program.values, twice.plan.program.values);
    }
  }
  EXPECT_GE(without_fragmentation, rounds * 95 / 100);  // 96.5 % of a campaign
  // Measured: 1,003. If slices and concats cannot all share, the bound is often below the peak of every plan.
  EXPECT_GE(optimal, rounds * 48 / 100);
}

TEST(RandomPlans, AutoIsNoWorseThanOneStrategyOrLessEffort) {
  Random random(57);
  for (int round = 0; round < testing::sampled(60); ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(4, 24)));
    const Bytes arena = arena_bytes(must_plan(graph, {}).plan);
    for (const std::string& order : schedule_strategies()) {
      ASSERT_LE(arena, arena_bytes(must_plan(graph, {.order = order}).plan)) << order << print_graph(graph);
    }
    for (std::int64_t effort : {0, 10'000, 1'000'000}) {
      ASSERT_LE(arena, arena_bytes(must_plan(graph, {.order_effort = effort}).plan)) << effort << print_graph(graph);
      ASSERT_LE(arena, arena_bytes(must_plan(graph, {.allocate_effort = effort}).plan)) << effort << print_graph(graph);
    }
  }
}

// Parts, bodies and bounds respect the alignment of every region that they may end up in.
TEST(RandomPlans, RegionsOfAnyAlignmentHoldPartsAndBodies) {
  Random random(97);
  for (int round = 0; round < 400; ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(4, 30)));
    const Target target = two_regions(Bytes(std::int64_t{1} << random.below(9)),
                                      Bytes(std::int64_t{1} << random.below(9)), Bytes(random.between(0, 400)));
    const PlannedGraph planned =
        must_plan(graph, {.streams = static_cast<std::uint32_t>(random.between(1, 2))}, target);
    ASSERT_LE(bound_of(planned.plan).bytes, arena_bytes(planned.plan));
  }
  const Graph branches = graph_of(kIf);
  for (const auto& [first, second] : {std::pair(64, 16), std::pair(16, 64), std::pair(256, 64)}) {
    const PlannedGraph planned = must_plan(branches, {}, two_regions(Bytes(first), Bytes(second), Bytes(100)));
    ASSERT_FALSE(planned.plan.program.steps.empty());
  }
}

// The search and the check of its bound count bytes with separate code. The check must confirm what the search proves,
// and the two counts almost always agree.
TEST(RandomPlans, BoundsOfSmallGraphsAreConfirmed) {
  Random random(83);
  int alike = 0;
  constexpr int kRounds = 1'500;
  for (int round = 0; round < kRounds; ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(2, 9)));
    const PlannedGraph planned = must_plan(graph, {.bound_check_effort = 10'000'000});
    const Bytes bound = bound_of(planned.plan).bytes;
    ASSERT_EQ(planned.bound_check.verdict, OrderBoundVerdict::confirmed) << "round " << round << print_graph(graph);
    const OrderBoundCheck above =
        check_order_bound(graph, dense_facts(graph, Bytes(64)), bound + Bytes(1), std::nullopt, 10'000'000);
    alike += above.verdict == OrderBoundVerdict::refuted ? 1 : 0;
  }
  EXPECT_GE(alike, kRounds * 97 / 100);  // 1,477 measured
}

}  // namespace
}  // namespace lowtide::testing
