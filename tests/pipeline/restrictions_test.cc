// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Orders and bounds respect what options forbid. The answer is the same as for a machine whose kernels cannot do it.

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/share/load.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::testing {
namespace {

// The dense kernels, without what a machine may lack.
class Lacking final : public Catalogue {
 public:
  Lacking(bool views, bool in_place) : views_(views), in_place_(in_place) {}

  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId node) const override {
    std::vector<Kernel> kernels = dense_catalogue()->kernels(graph, node);
    for (Kernel& kernel : kernels) {
      kernel.may_alias_views = kernel.may_alias_views && views_;
      if (!in_place_) kernel.in_place.clear();
    }
    return kernels;
  }

 private:
  bool views_;
  bool in_place_;
};

Target lacking(bool views, bool in_place) {
  Target target = dense_target();
  target.catalogue = std::make_shared<const Lacking>(views, in_place);
  return target;
}

Target aligned_to(Bytes alignment) {
  Target target = dense_target();
  target.machine.regions[0].alignment = alignment;
  return target;
}

PlannedGraph must_plan_checked(const Graph& graph, PlanOptions options, const Target& target = dense_target()) {
  options.bound_check_effort = 10'000'000;
  Result<PlannedGraph> planned = plan_graph(graph, target, options);
  EXPECT_TRUE(planned.ok()) << planned.error().describe();
  for (const Violation& violation : planned->violations) {
    ADD_FAILURE() << violation.message << "\n" << print_graph(graph);
  }
  EXPECT_EQ(planned->bound_check.verdict, OrderBoundVerdict::confirmed) << print_graph(graph);
  return *std::move(planned);
}

// The outputs take 64 + 64 + 64 + 128 = 320 bytes. As given, t4 and t5 come last: t0, t1 and t3 are there already, so
// 192 + 128 + 128 = 448. With t4 and t5 right after t0 it is 64 + 128 + 128, then never more than all outputs: t2
// replaces t4, and t1 replaces t2. A search that believes that t5 may be written over t4 sees no difference.
TEST(Restrictions, WithoutInPlaceTheSearchLooksForAnotherOrder) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    input y : f32[16]
    t0 = Neg(x) : f32[16]
    t1 = Add(x, t0) : f32[16]
    t2 = Max(y, x) : f32[16]
    t3 = Relu(t2) : f32[16]
    t4 = Conv(t0) : f32[32]
    t5 = Tanh(t4) : f32[32]
    output t0, t1, t3, t5
  })");
  const PlannedGraph planned = must_plan_checked(graph, {.in_place = false});
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(320));
  EXPECT_EQ(bound_of(planned.plan).bytes, Bytes(320));
}

TEST(Restrictions, AnOptionEqualsATargetWithTheSameLimits) {
  Random random(91);
  for (int round = 0; round < 400; ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(2, 12)));
    const bool views = random.chance(50);
    const bool in_place = !views && random.chance(50);
    const PlannedGraph asked = must_plan_checked(graph, {.views = views, .in_place = in_place});
    const PlannedGraph told = must_plan_checked(graph, {}, lacking(views, in_place));
    ASSERT_EQ(arena_bytes(asked.plan), arena_bytes(told.plan)) << "round " << round << print_graph(graph);
    ASSERT_EQ(asked.plan.claims.load, told.plan.claims.load) << "round " << round << print_graph(graph);
    ASSERT_EQ(bound_of(asked.plan).bytes, bound_of(told.plan).bytes) << "round " << round << print_graph(graph);
  }
}

// Without views and results in place, only the order is left to decide. So the least load of all orders is found and
// proven.
TEST(Restrictions, WithoutSharingTheBestOfAllOrdersIsProven) {
  Random random(92);
  int below_given = 0;
  for (int round = 0; round < 300; ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(2, 7)));
    const AliasOptions options{.alignment = Bytes(64), .views = false, .in_place = false};
    const ChosenKernels kernels = dense_kernels(graph);
    const auto load_of = [&](const std::vector<NodeId>& order) {
      return largest(load_profile(alias_classes(graph, kernels, order, options), kernels, order, options));
    };
    Bytes least(std::numeric_limits<std::int64_t>::max());
    for_every_order(graph, [&](const std::vector<NodeId>& order) { least = std::min(least, load_of(order)); });
    const PlannedGraph planned = must_plan_checked(graph, {.views = false, .in_place = false});
    ASSERT_EQ(planned.plan.claims.load, least) << "round " << round << print_graph(graph);
    ASSERT_EQ(bound_of(planned.plan).bytes, least) << "round " << round << print_graph(graph);
    below_given += least < load_of(given_order(graph)) ? 1 : 0;
  }
  EXPECT_GT(below_given, 20);  // otherwise there was nothing to find
}

// If only one of the three is forbidden, fixed rules choose the aliases of an order, so the bound may be below the best
// of all orders. It is never above it, and planning almost always finds the best order.
TEST(Restrictions, WithOneForbiddenTheBestOrderIsAlmostAlwaysFound) {
  Random random(93);
  int best = 0;
  constexpr int kRounds = 450;
  for (int round = 0; round < kRounds; ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(2, 7)));
    const AliasOptions options{
        .alignment = Bytes(64), .views = round % 3 != 0, .in_place = round % 3 != 1, .parts = round % 3 != 2};
    const ChosenKernels kernels = dense_kernels(graph);
    Bytes least(std::numeric_limits<std::int64_t>::max());
    for_every_order(graph, [&](const std::vector<NodeId>& order) {
      const AliasClasses classes = alias_classes(graph, kernels, order, options);
      least = std::min(least, largest(load_profile(classes, kernels, order, options)));
    });
    const PlannedGraph planned =
        must_plan_checked(graph, {.views = options.views, .parts = options.parts, .in_place = options.in_place});
    ASSERT_LE(bound_of(planned.plan).bytes, least) << "round " << round << print_graph(graph);
    best += planned.plan.claims.load <= least ? 1 : 0;
  }
  EXPECT_GE(best, kRounds * 99 / 100);
}

// The outputs take 8 + 16 + 40 + 24 + 56 = 144 bytes, which is the least load of all orders. If everything is shared,
// colocated parts leave free ranges, and the smallest arena that is found has 156 bytes.
TEST(Restrictions, BuffersWithoutPartsMayPackBetter) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[2]
    t0 = Concat(x, x, x) {axis = 0} : f32[6]
    t1 = Neg(t0) : f32[6]
    t2 = Concat(x, t0, x) {axis = 0} : f32[10]
    t4 = Concat(t1, x) {axis = 0} : f32[8]
    t5, t6 = Split(t1) {axis = 0, split = [2, 4]} : f32[2], f32[4]
    t8 = Neg(t2) : f32[10]
    t9 = Slice(t2) {starts = [1], ends = [7], axes = [0]} : f32[6]
    t10 = Concat(t4, t1) {axis = 0} : f32[14]
    output t5, t6, t8, t9, t10
  })");
  EXPECT_EQ(arena_bytes(must_plan_checked(graph, {}, aligned_to(Bytes(4))).plan), Bytes(144));
}

// A plan that shares less is also a plan that may share more.
TEST(Restrictions, ThePlanWithoutThemIsNoLarger) {
  const Target target = aligned_to(Bytes(4));  // so that more parts of tensors can be views
  int improvable = 0;
  for (int round = 0; round < 150; ++round) {
    Random random(static_cast<std::uint64_t>(8000 + round));
    const Graph graph = random_graph(random, static_cast<int>(random.between(8, 16)));
    const PlannedGraph planned = must_plan_checked(graph, {}, target);
    const Bytes arena = arena_bytes(planned.plan);
    if (arena == bound_of(planned.plan).bytes) continue;
    ++improvable;
    for (const PlanOptions& less : {PlanOptions{.parts = false}, {.views = false}, {.in_place = false}}) {
      EXPECT_LE(arena, arena_bytes(must_plan_checked(graph, less, target).plan))
          << "round " << round << print_graph(graph);
    }
  }
  EXPECT_GT(improvable, 0);
}

}  // namespace
}  // namespace lowtide::testing
