// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Targets with several kernels per operator: the fastest is planned, and others if a limit requires it.

#include "lowtide/pipeline/sequence/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/lower/memory/outputs_at_caller.h"
#include "lowtide/share/load.h"
#include "tests/pipeline/offers.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/after_pass.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> kernels_of_steps(const Plan& plan) {
  std::vector<std::string> names;
  for (const Step& step : plan.program.steps) {
    const auto* compute = std::get_if<Compute>(&step.work);
    names.push_back(compute != nullptr ? plan.kernels[compute->kernel].name : "");
  }
  return names;
}

// 256 + 64 + 512 = 832, and 320 without scratch.
TEST(Exchange, WithoutALimitEveryNodeHasItsFastestKernel) {
  const PlannedGraph planned = must_plan(graph_of(kTwoConvs), {}, fast_and_small());
  EXPECT_THAT(kernels_of_steps(planned.plan), ElementsAre("fast", "fast"));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(832));
  EXPECT_EQ(planned.plan.claims.bounds, (std::vector<Bound>{{BoundScope::chosen_kernels, Bytes(832), "live_set"},
                                                            {BoundScope::run_once, Bytes(320), "live_set"},
                                                            {BoundScope::all_plans, Bytes(320), "working_set"}}));
  ASSERT_TRUE(planned.exchange && planned.lightest);
  EXPECT_EQ(planned.exchange->nodes, 0);
  EXPECT_EQ(planned.lightest->nodes, 2);
  EXPECT_EQ(planned.lightest->arena, Bytes(320));
  EXPECT_EQ(planned.lightest->added_picoseconds, 2 * 3'000'000'000'000);
}

// a takes 256 + 512 = 768 with its fastest kernel, so only b changes.
TEST(Exchange, OnlyNodesAboveTheLimitChange) {
  const PlannedGraph planned = must_plan(graph_of(kTwoConvs), {.budget = kInput + Bytes(831)}, fast_and_small());
  EXPECT_TRUE(planned.fits());
  EXPECT_THAT(kernels_of_steps(planned.plan), ElementsAre("fast", "small"));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(768));
  EXPECT_EQ(planned.exchange->nodes, 1);
  EXPECT_EQ(planned.exchange->added_picoseconds, 3'000'000'000'000);
}

TEST(Exchange, ALimitThatTheFastestMeetsChangesNothing) {
  const PlannedGraph planned = must_plan(graph_of(kTwoConvs), {.budget = kInput + Bytes(832)}, fast_and_small());
  EXPECT_TRUE(planned.fits());
  EXPECT_THAT(kernels_of_steps(planned.plan), ElementsAre("fast", "fast"));
}

// The capacity of a region is a limit like the budget.
TEST(Exchange, ACapacityIsALimitToo) {
  Target target = fast_and_small();
  target.machine.regions[0].capacity = Bytes(700);
  const PlannedGraph planned = must_plan(graph_of(kTwoConvs), {}, target);
  EXPECT_TRUE(planned.fits());
  EXPECT_THAT(kernels_of_steps(planned.plan), ElementsAre("small", "small"));
}

// 320 bytes are needed with every kernel.
TEST(Exchange, InfeasibleOnlyIfNoKernelsFit) {
  const PlannedGraph fits = must_plan(graph_of(kTwoConvs), {.budget = kInput + Bytes(320)}, fast_and_small());
  EXPECT_TRUE(fits.fits());
  const PlannedGraph missed = must_plan(graph_of(kTwoConvs), {.budget = kInput + Bytes(319)}, fast_and_small());
  EXPECT_EQ(missed.shortfall, Bytes(1));
  EXPECT_TRUE(missed.proven_infeasible);
}

// Without the stage, nothing is known about other plans. The bound for all kernels fits.
TEST(Exchange, WithoutTheStageNothingIsProven) {
  const PlannedGraph planned =
      must_plan(graph_of(kTwoConvs), {.budget = kInput + Bytes(320), .skip = {PlanStage::exchange}}, fast_and_small());
  EXPECT_EQ(planned.shortfall, Bytes(832 - 320));
  EXPECT_FALSE(planned.proven_infeasible);
  EXPECT_FALSE(planned.lightest);
}

// With "medium", a takes 256 + 128 = 384 and b takes 320 + 128 = 448.
TEST(Exchange, TheFastestKernelThatFitsIsUsed) {
  const Target target = with_offers("Conv", {{.name = "fast", .scratch = 512, .seconds = 1},
                                             {.name = "medium", .scratch = 128, .seconds = 2},
                                             {.name = "small", .seconds = 4}});
  const PlannedGraph medium = must_plan(graph_of(kTwoConvs), {.budget = kInput + Bytes(448)}, target);
  EXPECT_THAT(kernels_of_steps(medium.plan), ElementsAre("medium", "medium"));
  const PlannedGraph mixed = must_plan(graph_of(kTwoConvs), {.budget = kInput + Bytes(447)}, target);
  EXPECT_THAT(kernels_of_steps(mixed.plan), ElementsAre("medium", "small"));
  EXPECT_EQ(mixed.exchange->added_picoseconds, (1 + 3) * 1'000'000'000'000);
}

// The kernel "slow" is slower than "small" and needs more, so no plan uses it.
TEST(Exchange, SlowerKernelsThatNeedMoreAreNotUsed) {
  const Target target = with_offers("Conv", {{.name = "fast", .scratch = 512, .seconds = 1},
                                             {.name = "small", .seconds = 2},
                                             {.name = "slow", .scratch = 64, .seconds = 3}});
  const PlannedGraph planned = must_plan(graph_of(kTwoConvs), {.budget = kInput + Bytes(320)}, target);
  EXPECT_THAT(kernels_of_steps(planned.plan), ElementsAre("small", "small"));
}

// b over a: 256 bytes. As a copy: 512.
TEST(Exchange, AKernelMaySaveBytesByWorkingInPlace) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[64]
    a = Conv(x) : f32[64]
    b = Relu(a) : f32[64]
    c = Conv(b) : f32[16]
    output c
  })");
  const Target target = with_offers("Relu", {{.name = "copies", .in_place = false}, {.name = "over"}});
  const PlannedGraph free = must_plan(graph, {}, target);
  EXPECT_EQ(arena_bytes(free.plan), Bytes(512));
  EXPECT_EQ(free.lightest->added_picoseconds, std::nullopt) << "the target gives no costs";
  const PlannedGraph limited = must_plan(graph, {.budget = Bytes(256 + 511)}, target);
  EXPECT_TRUE(limited.fits());
  EXPECT_THAT(kernels_of_steps(limited.plan), ElementsAre("dense", "over", "dense"));
}

// The If runs p and q: 640 + 64 = 704 bytes and the scratch of q. y takes 64.
TEST(Exchange, BodiesHaveOtherKernelsToo) {
  const PlannedGraph free = must_plan(graph_of(kIf), {}, fast_and_small());
  EXPECT_EQ(arena_bytes(free.plan), Bytes(64 + 704 + 512));
  ASSERT_TRUE(free.lightest);
  EXPECT_EQ(free.lightest->arena, Bytes(64 + 704));
  const PlannedGraph limited = must_plan(graph_of(kIf), {.budget = free.caller + Bytes(64 + 704)}, fast_and_small());
  EXPECT_TRUE(limited.fits());
  const PlannedGraph missed = must_plan(graph_of(kIf), {.budget = free.caller + Bytes(64 + 703)}, fast_and_small());
  EXPECT_TRUE(missed.proven_infeasible);
}

TEST(Exchange, PlansOnSeveralStreamsHaveTheChosenKernels) {
  const PlannedGraph planned =
      must_plan(graph_of(kTwoConvs), {.budget = kInput + Bytes(700), .streams = 2}, fast_and_small());
  EXPECT_TRUE(planned.fits());
  EXPECT_THAT(kernels_of_steps(planned.plan), ElementsAre("small", "small"));
}

// In dataflow, a and b may run at the same time, each with 64 + 512 bytes. Without scratch, 4 x 64 are enough.
TEST(Exchange, DataflowHasTheKernelsWithWhichItFits) {
  const auto plan = [](std::int64_t budget) {
    return must_plan(graph_of(kBranches), {.budget = kInput + Bytes(budget), .run = ExecutionModel::dataflow},
                     fast_and_small());
  };
  const PlannedGraph least = plan(256);
  EXPECT_TRUE(least.fits());
  EXPECT_EQ(least.exchange->nodes, 5);
  EXPECT_TRUE(plan(10'000).fits());
  EXPECT_EQ(plan(10'000).exchange->nodes, 0);
  EXPECT_FALSE(plan(255).fits());
  // A sequence with the fastest kernels fits, unlike dataflow.
  EXPECT_EQ(must_plan(graph_of(kBranches), {.budget = kInput + Bytes(750)}, fast_and_small()).exchange->nodes, 0);
  EXPECT_TRUE(plan(750).fits());
}

// In dataflow, p and q run at the same time and need 2 x (256 + 512) bytes. One slower kernel saves 512 of them.
TEST(Exchange, DataflowKeepsFastKernelsWhereTheyFit) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    p = Conv(x) : f32[64]
    q = Conv(x) : f32[64]
    r = ReduceSum(p, q) : f32[16]
    s = Conv(r) : f32[16]
    output s
  })");
  const PlannedGraph planned =
      must_plan(graph, {.budget = kInput + Bytes(1535), .run = ExecutionModel::dataflow}, fast_and_small());
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(1024));
  EXPECT_EQ(planned.exchange->nodes, 1);
}

// Slower kernels without scratch leave space for a second stream, so fewer fast kernels may take less time.
TEST(Exchange, StreamsAreNoSlowerThanTheSequenceThatFits) {
  constexpr std::int64_t kSecond = 1'000'000'000'000;
  int limited = 0;
  for (std::int64_t arena = 256; arena <= 1400; arena += 64) {
    const Bytes budget = kInput + Bytes(arena);
    const PlannedGraph sequence = must_plan(graph_of(kBranches), {.budget = budget}, fast_and_small());
    const PlannedGraph planned = must_plan(graph_of(kBranches), {.budget = budget, .streams = 2}, fast_and_small());
    EXPECT_EQ(planned.fits(), sequence.fits()) << arena;
    const auto used = std::find_if(planned.trade_offs.begin(), planned.trade_offs.end(),
                                   [](const TradeOff& one) { return one.is_chosen; });
    ASSERT_NE(used, planned.trade_offs.end());
    EXPECT_LE(used->picoseconds, 5 * kSecond + *sequence.exchange->added_picoseconds + kSecond / 1000) << arena;
    limited += planned.exchange->nodes > 0 ? 1 : 0;
  }
  EXPECT_GT(limited, 3);
}

// In memory of the caller, the output needs no bytes of the arena. So "over", which has scratch, does not need less.
TEST(Exchange, OutputsAtTheCallerDoNotCount) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    a = Conv(x) : f32[64]
    b = Relu(a) : f32[64]
    output b
  })");
  const Target target = with_offers(
      "Relu", {{.name = "copies", .seconds = 1, .in_place = false}, {.name = "over", .scratch = 16, .seconds = 2}});
  EXPECT_EQ(must_plan(graph, {}, target).lightest->nodes, 1);
  const Graph placed = after_pass(graph, place_outputs_at_caller(graph));
  const PlannedGraph planned = must_plan(placed, {}, target);
  EXPECT_FALSE(planned.exchange) << "no kernel needs less";
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(256));
}

// Every node has one to three random kernels, which may work in place.
class RandomOffers final : public Catalogue {
 public:
  explicit RandomOffers(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId node) const override {
    Random random(seed_ * 1000 + node.value());
    const Kernel dense = dense_catalogue()->kernels(graph, node).front();
    std::vector<Kernel> kernels;
    for (std::int64_t at = random.between(0, 2); at >= 0; --at) {
      Kernel& kernel = kernels.emplace_back(dense);
      kernel.name = std::to_string(at);
      kernel.scratch = Bytes(random.between(0, 3) * 64);
      if (random.chance(30)) kernel.in_place.clear();
    }
    return kernels;
  }

 private:
  std::uint64_t seed_;
};

void for_every_choice(const Graph& graph, const Target& target,
                      const std::function<void(const ChosenKernels&)>& function) {
  std::vector<ChosenKernels> choices(1);
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    std::vector<ChosenKernels> longer;
    for (const ChosenKernels& choice : choices) {
      for (Kernel& kernel : target.catalogue->kernels(graph, id)) {
        longer.push_back(choice);
        longer.back().push_back(std::move(kernel));
      }
    }
    choices = std::move(longer);
  }
  for (const ChosenKernels& choice : choices) function(choice);
}

// Tries all choices of kernels and all orders of small graphs. Planning almost always meets a budget of the least load
// of all of them, and never claims that it is infeasible.
TEST(Exchange, TheBestOfAllChoicesAndOrdersFits) {
  int fitting = 0;
  int exchanged = 0;
  int infeasible = 0;
  constexpr int kRounds = 150;
  for (int round = 0; round < kRounds; ++round) {
    Random random(static_cast<std::uint64_t>(700 + round));
    const Graph graph = random_graph(random, static_cast<int>(random.between(2, 5)));
    Target target = dense_target();
    target.catalogue = std::make_shared<const RandomOffers>(round);
    const AliasOptions options{.alignment = Bytes(64)};
    Bytes least(std::numeric_limits<std::int64_t>::max());
    for_every_choice(graph, target, [&](const ChosenKernels& kernels) {
      for_every_order(graph, [&](const std::vector<NodeId>& order) {
        const AliasClasses classes = alias_classes(graph, kernels, order, options);
        least = std::min(least, largest(load_profile(classes, kernels, order, options)));
      });
    });
    const PlannedGraph free = must_plan(graph, {}, target);
    ASSERT_LE(best_bound(free.plan.claims, BoundScope::run_once)->bytes, least) << "round " << round;
    const Bytes caller = free.caller;
    const PlannedGraph planned = must_plan(graph, {.budget = caller + least}, target);
    fitting += planned.fits() ? 1 : 0;
    exchanged += planned.exchange && planned.exchange->nodes > 0 ? 1 : 0;
    ASSERT_FALSE(planned.proven_infeasible) << "round " << round << print_graph(graph);
    if (least < Bytes(64)) continue;
    const PlannedGraph missed = must_plan(graph, {.budget = caller + least - Bytes(64)}, target);
    ASSERT_FALSE(missed.fits()) << "round " << round << print_graph(graph);
    infeasible += missed.proven_infeasible ? 1 : 0;
  }
  EXPECT_GE(fitting, kRounds - 3);
  EXPECT_GE(exchanged, kRounds / 4);
  EXPECT_GE(infeasible, kRounds / 2);
}

// One kernel per node.
class Fixed final : public Catalogue {
 public:
  explicit Fixed(ChosenKernels kernels) : kernels_(std::move(kernels)) {}

  [[nodiscard]] std::vector<Kernel> kernels(const Graph&, NodeId node) const override { return {kernels_[node]}; }

 private:
  ChosenKernels kernels_;
};

// Two small regions. What cannot be distributed over them with all kernels fits with none.
TEST(Exchange, ARegionProofHoldsForAllKernels) {
  int proofs = 0;
  int fitting = 0;
  constexpr int kRounds = 150;
  for (int round = 0; round < kRounds; ++round) {
    Random random(static_cast<std::uint64_t>(900 + round));
    const Graph graph = random_graph(random, static_cast<int>(random.between(2, 5)));
    Target target = two_regions(Bytes(32), Bytes(32), Bytes(random.between(1, 4) * 32));
    target.machine.regions[1].capacity = Bytes(random.between(1, 4) * 32);
    target.catalogue = std::make_shared<const RandomOffers>(round);
    const PlannedGraph planned = must_plan(graph, {}, target);
    fitting += planned.fits() ? 1 : 0;
    proofs += planned.region_proof ? 1 : 0;
    if (!planned.proven_infeasible) continue;
    for_every_choice(graph, target, [&](const ChosenKernels& kernels) {
      Target fixed = target;
      fixed.catalogue = std::make_shared<const Fixed>(kernels);
      ASSERT_FALSE(must_plan(graph, {}, fixed).fits()) << "round " << round << print_graph(graph);
    });
  }
  EXPECT_GE(proofs, 10);
  EXPECT_GE(fitting, 10);
}

}  // namespace
}  // namespace lowtide::testing
