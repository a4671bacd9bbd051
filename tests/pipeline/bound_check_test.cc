// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <limits>

#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/share/load.h"
#include "lowtide/verify/check_bound.h"
#include "tests/campaign.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::testing {
namespace {

constexpr std::int64_t kEffort = 100'000'000;

// `analysis` and `schedule` find the bound of a plan, and `verify` confirms it. A bound above the lowest load of all
// orders is refuted.
TEST(BoundCheck, ConfirmsTheBoundsOfPlans) {
  Random random(81);
  int searched = 0;
  int tight = 0;
  for (int round = 0; round < testing::sampled(900); ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(2, 7)));
    Result<PlannedGraph> planned = plan_graph(graph, dense_target(), {.bound_check_effort = kEffort});
    ASSERT_TRUE(planned.ok());
    ASSERT_EQ(planned->bound_check.verdict, OrderBoundVerdict::confirmed) << "round " << round << print_graph(graph);
    searched += bound_of(planned->plan).name == "search" ? 1 : 0;

    const ChosenKernels kernels = dense_kernels(graph);
    OrderFacts facts{.alignment = Bytes(64)};
    facts.in_place.resize(graph.nodes().size());
    for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
      for (const auto& [input, output] : kernels[id].in_place) {
        facts.in_place[id].emplace_back(*graph.node(id).inputs[static_cast<std::size_t>(input)],
                                        *graph.node(id).outputs[static_cast<std::size_t>(output)]);
      }
    }
    Bytes least(std::numeric_limits<std::int64_t>::max());
    const AliasOptions options{.alignment = Bytes(64)};
    for_every_order(graph, [&](const std::vector<NodeId>& order) {
      least = std::min(least,
                       largest(load_profile(alias_classes(graph, kernels, order, options), kernels, order, options)));
    });
    const OrderBoundVerdict above = check_order_bound(graph, facts, least + Bytes(64), std::nullopt, kEffort).verdict;
    ASSERT_EQ(above, OrderBoundVerdict::refuted) << "round " << round << print_graph(graph);
    tight += check_order_bound(graph, facts, least, std::nullopt, kEffort).verdict == OrderBoundVerdict::confirmed;
  }
  EXPECT_GT(searched, testing::sampled(15));
  EXPECT_GT(tight, testing::sampled(700));
}

// Without effort, either a single sum confirms the bound or the verdict is undecided.
TEST(BoundCheck, LeavesASearchedBoundUndecidedWithoutEffort) {
  const Graph graph = graph_of(R"(graph "g" {
  input x : f32[1]
  a = Conv(x) : f32[100]
  b = Conv(x) : f32[100]
  c = Conv(a) : f32[100]
  d = Conv(b) : f32[10]
  e = Conv(c, d) : f32[1]
  output e
})");
  // With d before a, b and d need 448 + 64, then a, c and d 448 + 448 + 64 = 960. At c, only 896 bytes must be live.
  Result<PlannedGraph> silent = plan_graph(graph, dense_target());
  ASSERT_TRUE(silent.ok());
  EXPECT_EQ(bound_of(silent->plan).name, "search");
  EXPECT_EQ(bound_of(silent->plan).bytes, Bytes(960));
  EXPECT_EQ(silent->bound_check.verdict, OrderBoundVerdict::undecided);
  EXPECT_EQ(silent->bound_check.live_set, Bytes(64));  // no node is named, so only e counts, at the end
  Result<PlannedGraph> asked = plan_graph(graph, dense_target(), {.bound_check_effort = kEffort});
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->bound_check.verdict, OrderBoundVerdict::confirmed);
  EXPECT_TRUE(asked->bound_check.is_by_search);
}

}  // namespace
}  // namespace lowtide::testing
