// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/other_order.h"

#include <gtest/gtest.h>

#include <set>

#include "lowtide/base/random.h"
#include "lowtide/share/load.h"
#include "tests/campaign.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::testing {
namespace {

constexpr std::int64_t kWork = 10'000'000;

// A source, two branches of one node each, and a sink. The branches may run in either order, and both orders are found.
TEST(OtherOrder, FindsEachOrderOfTheSameLoad) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    a = Conv(x) : f32[16]
    b = Conv(a) : f32[16]
    c = Conv(a) : f32[16]
    d = Conv(b, c) : f32[16]
    output d
  })");
  std::set<std::vector<NodeId>> found;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::optional<Schedule> other =
        other_order(graph, dense_kernels(graph), {}, {.most = Bytes(3 * 64), .seed = seed, .work = kWork});
    ASSERT_TRUE(other.has_value());
    found.insert(other->order);
  }
  EXPECT_EQ(found, (std::set<std::vector<NodeId>>{{NodeId(0), NodeId(1), NodeId(2), NodeId(3)},
                                                  {NodeId(0), NodeId(2), NodeId(1), NodeId(3)}}));
  EXPECT_FALSE(other_order(graph, dense_kernels(graph), {}, {.most = Bytes(3 * 64 - 1), .work = kWork}).has_value());
}

TEST(OtherOrder, FindsOrdersWithinTheLoadOfRandomGraphs) {
  Random random(63);
  int found = 0;
  for (int round = 0; round < testing::sampled(300); ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(2, 20)));
    const ChosenKernels kernels = dense_kernels(graph);
    const Schedule best = schedule(graph, kernels)->best;
    const std::optional<Schedule> other =
        other_order(graph, kernels, {}, {.most = best.load, .seed = 7, .work = kWork});
    if (!other) continue;
    ++found;
    ASSERT_TRUE(is_topological(graph, other->order));
    ASSERT_LE(other->load, best.load);
    ASSERT_EQ(other->load, largest(load_profile(alias_classes(graph, kernels, other->order), kernels, other->order)));
    const std::optional<Schedule> again =
        other_order(graph, kernels, {}, {.most = best.load, .seed = 7, .work = kWork});
    ASSERT_EQ(again->order, other->order);
  }
  EXPECT_GT(found, testing::sampled(200));
}

}  // namespace
}  // namespace lowtide::testing
