// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/planned_graph.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/pipeline/sequence/region_proof.h"
#include "tests/pipeline/offers.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

// The input x has 64 bytes, which the caller holds. The arena has 256 + 64.
constexpr Bytes kInput(64);

TEST(Capacity, ABudgetThatIsMetIsKeptInThePlan) {
  const PlannedGraph planned = must_plan(graph_of(kChain), {.budget = kInput + Bytes(320)});
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(planned.caller, kInput);
  EXPECT_EQ(planned.counted, kInput + Bytes(320));
  EXPECT_EQ(planned.plan.machine.regions[0].capacity, Bytes(320));
}

TEST(Capacity, AMissedBudgetReportsTheShortfallAndTheProof) {
  const PlannedGraph planned = must_plan(graph_of(kChain), {.budget = kInput + Bytes(319)});
  EXPECT_FALSE(planned.fits());
  EXPECT_EQ(planned.shortfall, Bytes(1));
  EXPECT_TRUE(planned.proven_infeasible);
}

// 63 bytes are less than the input alone. 1 byte of it and the whole arena are missing.
TEST(Capacity, ABudgetBelowTheInputsIsProvenInfeasible) {
  const PlannedGraph planned = must_plan(graph_of(kChain), {.budget = Bytes(63)});
  EXPECT_EQ(planned.capacity, Bytes(63));
  EXPECT_EQ(planned.shortfall, Bytes(1 + 320));
  EXPECT_TRUE(planned.proven_infeasible);
}

// Even without an arena: the output is the input.
TEST(Capacity, ABudgetBelowTheInputsIsNotMetByAnEmptyArena) {
  const Graph graph = graph_of("graph \"g\" {\n  input x : f32[16]\n  output x\n}");
  EXPECT_EQ(must_plan(graph, {.budget = Bytes(63)}).shortfall, Bytes(1));
  EXPECT_TRUE(must_plan(graph, {.budget = Bytes(63)}).proven_infeasible);
  EXPECT_TRUE(must_plan(graph, {.budget = Bytes(64)}).fits());
}

// The capacity of a region limits only the arena. The budget also counts the input.
TEST(Capacity, TheTighterOfBudgetAndCapacityCounts) {
  Target target = dense_target();
  target.machine.regions[0].capacity = Bytes(100);
  const PlannedGraph of_region = must_plan(graph_of(kChain), {.budget = Bytes(1000)}, target);
  EXPECT_EQ(of_region.capacity, Bytes(100));
  EXPECT_EQ(of_region.counted, Bytes(320));
  const PlannedGraph of_budget = must_plan(graph_of(kChain), {.budget = Bytes(150)}, target);
  EXPECT_EQ(of_budget.capacity, Bytes(150));
  EXPECT_EQ(of_budget.counted, kInput + Bytes(320));
  EXPECT_EQ(of_budget.shortfall, kInput + Bytes(320 - 150));
}

// 256 + 64 bytes are live at the same time. Only the 64 fit into the 128 bytes of the first region.
TEST(Capacity, WhatDoesNotFitTheFirstRegionGoesToTheNext) {
  Target target = dense_target();
  target.machine.regions = {Region{.name = "sram", .capacity = Bytes(128)},
                            Region{.name = "dram", .alignment = Bytes(16)}};
  const PlannedGraph planned = must_plan(graph_of(kChain), {}, target);
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(planned.plan.layout.arena, (std::vector<Bytes>{Bytes(64), Bytes(256)}));
}

// If s is in the first region, the arenas have 64 + 192 bytes. In the second region, s and b, and c and d, need
// 64 + 128 and 4 + 192, at different times. The 4 bytes may be in either region.
TEST(Capacity, ABudgetIsDividedBetweenRegionsAsThePlanNeedsIt) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    s = Relu(x) : f32[16]
    b = Gather(s) : f32[32]
    c = ReduceSum(b) : f32[1]
    d = Expand(c) : f32[48]
    output d
  })");
  Target target = dense_target();
  target.machine.regions = {Region{.name = "near", .capacity = Bytes(64), .alignment = Bytes(4)},
                            Region{.name = "far", .capacity = Bytes(1000), .alignment = Bytes(4)}};
  const PlannedGraph planned = must_plan(graph, {.budget = kInput + Bytes(196)}, target);
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(planned.plan.layout.arena, (std::vector<Bytes>{Bytes(4), Bytes(192)}));
  const PlannedGraph missed = must_plan(graph, {.budget = kInput + Bytes(195)}, target);
  EXPECT_EQ(missed.shortfall, Bytes(1));
  EXPECT_TRUE(missed.proven_infeasible);
}

// The worker cannot address the first region, so no buffer lies there and its alignment does not count.
TEST(Capacity, BuffersLieInRegionsThatTheWorkerAddresses) {
  Target target = dense_target();
  target.machine.regions = {
      Region{.name = "host", .alignment = Bytes(256)}, Region{.name = "sram", .capacity = Bytes(128)},
      Region{.name = "dram", .capacity = Bytes(256)}, Region{.name = "disk", .capacity = Bytes(1)}};
  target.machine.workers[WorkerId(0)].addressable = {RegionId(1), RegionId(2)};
  const PlannedGraph planned = must_plan(graph_of(kChain), {}, target);
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(planned.plan.layout.arena, (std::vector<Bytes>{Bytes(0), Bytes(64), Bytes(256), Bytes(0)}));
  EXPECT_EQ(planned.plan.machine, target.machine);
  EXPECT_EQ(planned.capacity, Bytes(128 + 256));
  const PlannedGraph tight = must_plan(graph_of(kChain), {.budget = kInput + Bytes(300)}, target);
  EXPECT_EQ(tight.shortfall, Bytes(20));
}

TEST(Capacity, TheLastRegionReportsTheShortfall) {
  Target target = dense_target();
  target.machine.regions = {Region{.name = "sram", .capacity = Bytes(128)},
                            Region{.name = "dram", .capacity = Bytes(200)}};
  const PlannedGraph planned = must_plan(graph_of(kChain), {}, target);
  EXPECT_EQ(planned.shortfall, Bytes(56));
  EXPECT_EQ(planned.capacity, Bytes(328));
  // 320 bytes would fit into one region of 328, but no region holds the 256 bytes of a.
  EXPECT_TRUE(planned.proven_infeasible);
  EXPECT_TRUE(planned.region_proof);
}

// 4 floats are 16 bytes. The first region would round them up to 64 and is too small. The second one leaves them at 16.
TEST(Capacity, ABoundUsesTheFinestAlignment) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[4]
    output a
  })");
  const PlannedGraph planned = must_plan(graph, {}, two_regions(Bytes(64), Bytes(4), Bytes(8)));
  EXPECT_EQ(bound_of(planned.plan).bytes, Bytes(16));
}

// A budget limits the sum over all regions and the input. 320 bytes are needed, whichever regions hold them.
TEST(Capacity, ABudgetCountsAllRegions) {
  const Target target = two_regions(Bytes(64), Bytes(64), Bytes(128));
  const PlannedGraph met = must_plan(graph_of(kChain), {.budget = kInput + Bytes(320)}, target);
  EXPECT_TRUE(met.fits());
  EXPECT_EQ(arena_bytes(met.plan), Bytes(320));
  const PlannedGraph missed = must_plan(graph_of(kChain), {.budget = kInput + Bytes(300)}, target);
  EXPECT_FALSE(missed.fits());
  EXPECT_EQ(missed.shortfall, Bytes(20));
  EXPECT_TRUE(missed.proven_infeasible);
}

// Three tensors of 64 bytes are live at e. Two regions of 128 - 32 bytes have 192 bytes in all, but hold only two of
// them.
TEST(Capacity, TensorsThatCannotBeDistributedAreAProof) {
  Target target = dense_target();
  target.machine.regions = {{.name = "a", .capacity = Bytes(96), .alignment = Bytes(32)},
                            {.name = "b", .capacity = Bytes(96), .alignment = Bytes(32)}};
  const PlannedGraph planned = must_plan(graph_of(kBranches), {}, target);
  EXPECT_FALSE(planned.fits());
  EXPECT_TRUE(planned.proven_infeasible);
  ASSERT_TRUE(planned.region_proof);
  EXPECT_EQ(planned.region_proof->node, NodeId(4));
  EXPECT_EQ(planned.region_proof->tensors.size(), 3U);
  target.machine.regions[0].capacity = Bytes(128);
  EXPECT_TRUE(must_plan(graph_of(kBranches), {}, target).fits());
}

TEST(Capacity, ATensorLargerThanEveryRegionIsAProof) {
  Target target = dense_target();
  target.machine.regions = {{.name = "a", .capacity = Bytes(192)}, {.name = "b", .capacity = Bytes(192)}};
  const PlannedGraph planned = must_plan(graph_of(kChain), {}, target);  // a has 256 bytes; 256 + 64 are live
  EXPECT_TRUE(planned.proven_infeasible);
  ASSERT_TRUE(planned.region_proof);
  EXPECT_EQ(planned.region_proof->node, std::nullopt);
  EXPECT_EQ(planned.region_proof->tensors.size(), 1U);
}

TEST(Capacity, AnUnlimitedRegionGivesNoProof) {
  const PlannedGraph planned = must_plan(graph_of(kChain), {}, two_regions(Bytes(64), Bytes(64), Bytes(64)));
  EXPECT_TRUE(planned.fits());
  EXPECT_FALSE(planned.region_proof);
}

// Two bins of 9 hold these items in only one way: 5 + 4 and 3 + 3 + 3.
TEST(Distribution, IsExact) {
  const std::vector<Bytes> items = {Bytes(5), Bytes(4), Bytes(3), Bytes(3), Bytes(3)};
  EXPECT_EQ(pipeline_internal::can_distribute(items, {Bytes(9), Bytes(9)}), true);
  EXPECT_EQ(pipeline_internal::can_distribute(items, {Bytes(8), Bytes(10)}), true);  // 5 + 3 and 4 + 3 + 3
  EXPECT_EQ(pipeline_internal::can_distribute(items, {Bytes(2), Bytes(16)}), false);
  EXPECT_EQ(pipeline_internal::can_distribute({}, {Bytes(1)}), true);
}

// All distributions of up to 6 items over up to 3 bins.
TEST(Distribution, AgreesWithAllDistributions) {
  Random random(17);
  int possible = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<Bytes> items(static_cast<std::size_t>(random.between(1, 6)));
    std::vector<Bytes> bins(static_cast<std::size_t>(random.between(1, 3)));
    for (Bytes& item : items) item = Bytes(random.between(1, 9));
    for (Bytes& bin : bins) bin = Bytes(random.between(4, 16));
    std::size_t choices = 1;
    for (std::size_t at = 0; at < items.size(); ++at) choices *= bins.size();
    bool expected = false;
    for (std::size_t choice = 0; choice < choices; ++choice) {
      std::vector<Bytes> filled(bins.size());
      for (std::size_t at = 0, rest = choice; at < items.size(); ++at, rest /= bins.size()) {
        filled[rest % bins.size()] += items[at];
      }
      bool fits = true;
      for (std::size_t bin = 0; bin < bins.size(); ++bin) fits = fits && filled[bin] <= bins[bin];
      expected = expected || fits;
    }
    ASSERT_EQ(pipeline_internal::can_distribute(items, bins), expected) << "round " << round;
    possible += expected ? 1 : 0;
  }
  EXPECT_GT(possible, 100);
  EXPECT_LT(possible, 400);
}

// Two outputs of 36 bytes lie at 0 and 64, so an arena of 100 bytes holds them. The planner makes buffers of 64 bytes,
// so its arena has 128, but that proves nothing. 64 bytes cannot hold both.
TEST(Capacity, TheLastUnitOfARegionNeedNotBeFull) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[9]
    a = Relu(x) : f32[9]
    b = Neg(x) : f32[9]
    output a, b
  })");
  const Bytes input(36);
  EXPECT_FALSE(must_plan(graph, {.budget = input + Bytes(100)}).proven_infeasible);
  EXPECT_TRUE(must_plan(graph, {.budget = input + Bytes(64)}).proven_infeasible);
}

// The body has 36 + 36 + 64 bytes beside the 64 of y. With the tensor of 36 bytes last, the arena has 64 + 164 bytes.
TEST(Capacity, TheLastUnitMayBeInABody) {
  const auto body = [](const std::string& name) {
    return name + R"(_branch = graph "g" captures (x) {
        captured input x : f32[9]
        a = Relu(x) : f32[9]
        b = Neg(x) : f32[9]
        s = MatMul(a, b) : f32[16]
        output s
      })";
  };
  const Graph graph = graph_of(R"(graph "g" {
    input c : bool[]
    input x : f32[9]
    y = If(c) { )" + body("then") +
                               ", " + body("else") + R"( } : f32[16]
    output y
  })");
  const Bytes inputs(1 + 36);
  const PlannedGraph planned = must_plan(graph);
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(256));
  EXPECT_FALSE(must_plan(graph, {.budget = inputs + Bytes(228)}).proven_infeasible);
  EXPECT_TRUE(must_plan(graph, {.budget = inputs + Bytes(192)}).proven_infeasible);
}

// d has 64 bytes, s are its last 48, and c = s, b, e has 128. If c is stored over d, one buffer of 16 + 128 bytes holds
// d and c, and m has 64 more. So an arena of 208 bytes holds all, with m first. The bound counts the buffer as 192.
TEST(Capacity, ABufferOfSlicesNeedNotFillItsLastUnit) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    constant begin : i64[1] = [4]
    constant end : i64[1] = [16]
    d = MatMul(x) : f32[16]
    b = Tanh(x) : f32[10]
    e = Tanh(x) : f32[10]
    s = Slice(d, begin, end) : f32[12]
    c = Concat(s, b, e) {axis = 0} : f32[32]
    m = MatMul(c) : f32[16]
    o = Add(m, d) : f32[16]
    output o
  })");
  const Bytes input(64);
  EXPECT_FALSE(must_plan(graph, {.budget = input + Bytes(208)}).proven_infeasible);
  // With recomputation, 192 bytes are enough, because d need not be kept.
  const PlannedGraph missed = must_plan(graph, {.budget = input + Bytes(192), .skip = {PlanStage::recompute}});
  EXPECT_TRUE(missed.proven_infeasible);
  EXPECT_TRUE(must_plan(graph, {.budget = input + Bytes(192)}).fits());
}

// y has 68 bytes, so 128 with alignment 64. The scratch of If has 1 byte, and right before it the 68 bytes of a branch.
// So an arena of 128 + 69 bytes holds all, and one of 191 does not.
TEST(Capacity, ScratchMayFollowTheLastBufferOfABody) {
  const Graph graph = graph_of(R"(graph "g" {
    input c : bool[]
    input x : f32[17]
    y = If(c) {
      then_branch = graph "then" captures (x) {
        captured input x : f32[17]
        p = Relu(x) : f32[17]
        output p
      },
      else_branch = graph "else" captures (x) {
        captured input x : f32[17]
        q = Neg(x) : f32[17]
        output q
      }
    } : f32[17]
    output y
  })");
  const Target target = with_offers("If", {{.name = "branch", .scratch = 1}});
  const Bytes inputs(1 + 68);
  EXPECT_EQ(best_bound(must_plan(graph, {}, target).plan.claims, BoundScope::all_plans)->bytes, Bytes(256));
  EXPECT_FALSE(must_plan(graph, {.budget = inputs + Bytes(197)}, target).proven_infeasible);
  EXPECT_TRUE(must_plan(graph, {.budget = inputs + Bytes(191)}, target).proven_infeasible);
}

}  // namespace
}  // namespace lowtide::testing
