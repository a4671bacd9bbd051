// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "tests/pipeline/odd_targets.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::testing {
namespace {

// The arena holds a (256) and c (64): 320 bytes. The weights have 1,024 + 20 bytes.
constexpr const char* kWeighted = R"(graph "g" {
  input x : f32[16]
  constant w : f32[256]
  constant v : f32[5]
  a = Conv(x, w) : f32[64]
  c = Conv(a, v) : f32[16]
  output c
})";
constexpr std::int64_t kArena = 320;
constexpr std::int64_t kWeights = 1'024 + 20;

Target with_flash(std::optional<Bytes> sram, std::optional<Bytes> flash) {
  Target target = dense_target();
  target.machine.regions = {{.name = "flash", .capacity = flash, .is_read_only = true},
                            {.name = "sram", .capacity = sram}};
  target.machine.constants = RegionId(0);
  return target;
}

// Weights and arena in one region.
Target one_region(std::optional<Bytes> capacity, Bytes alignment = Bytes(64)) {
  Target target = dense_target();
  target.machine.regions[0].capacity = capacity;
  target.machine.regions[0].alignment = alignment;
  target.machine.constants = RegionId(0);
  return target;
}

TEST(PlannedWeights, AReadOnlyRegionHoldsNoArena) {
  const PlannedGraph planned = must_plan(graph_of(kWeighted), {}, with_flash(std::nullopt, std::nullopt));
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(planned.plan.layout.arena, (std::vector<Bytes>{Bytes(0), Bytes(kArena)}));
  EXPECT_EQ(planned.plan.machine.constants, RegionId(0));
  EXPECT_EQ(planned.weights->bytes, Bytes(kWeights));
  EXPECT_FALSE(planned.counts_weights);
}

TEST(PlannedWeights, FitToTheByte) {
  const Graph graph = graph_of(kWeighted);
  const PlannedGraph exact = must_plan(graph, {}, with_flash(Bytes(kArena), Bytes(kWeights)));
  EXPECT_TRUE(exact.fits());
  EXPECT_EQ(exact.plan.machine.regions[0].capacity, Bytes(kWeights));
  const PlannedGraph missed = must_plan(graph, {}, with_flash(Bytes(kArena), Bytes(kWeights - 1)));
  EXPECT_EQ(missed.shortfall, Bytes(1));
  EXPECT_EQ(missed.plan.claims.shortfall, Bytes(1));
  EXPECT_TRUE(missed.proven_infeasible);
  // The plan is one for a machine with more flash. The other region is not affected.
  EXPECT_EQ(missed.plan.machine.regions[0].capacity, std::nullopt);
  EXPECT_EQ(missed.plan.machine.regions[1].capacity, Bytes(kArena));
  EXPECT_EQ(missed.capacity, Bytes(kArena));
  EXPECT_EQ(missed.counted, Bytes(kArena));
}

TEST(PlannedWeights, ShortfallsOfWeightsAndArenaAddUp) {
  const PlannedGraph planned = must_plan(graph_of(kWeighted), {}, with_flash(Bytes(kArena - 64), Bytes(kWeights - 10)));
  EXPECT_EQ(planned.shortfall, Bytes(64 + 10));
  EXPECT_EQ(planned.weights->excess(), Bytes(10));
}

TEST(PlannedWeights, ShareTheCapacityOfTheirRegionWithTheArena) {
  const Graph graph = graph_of(kWeighted);
  const PlannedGraph exact = must_plan(graph, {}, one_region(Bytes(kArena + kWeights)));
  EXPECT_TRUE(exact.fits());
  EXPECT_TRUE(exact.counts_weights);
  EXPECT_EQ(exact.counted, Bytes(kArena + kWeights));
  EXPECT_EQ(exact.capacity, Bytes(kArena + kWeights));
  EXPECT_EQ(exact.plan.machine.regions[0].capacity, Bytes(kArena + kWeights));
  const PlannedGraph missed = must_plan(graph, {}, one_region(Bytes(kArena + kWeights - 1)));
  EXPECT_EQ(missed.shortfall, Bytes(1));
  EXPECT_EQ(missed.plan.machine.regions[0].capacity, std::nullopt);
}

// 1 byte of alignment, so the bound of 320 bytes is the arena, and nothing is rounded.
TEST(PlannedWeights, AreProvenNotToFitBesideTheArena) {
  const PlannedGraph missed = must_plan(graph_of(kWeighted), {}, one_region(Bytes(kArena + kWeights - 1), Bytes(1)));
  EXPECT_EQ(missed.shortfall, Bytes(1));
  EXPECT_TRUE(missed.proven_infeasible);
}

TEST(PlannedWeights, ThatExceedTheRegionAloneLeaveNoArena) {
  const PlannedGraph planned = must_plan(graph_of(kWeighted), {}, one_region(Bytes(kWeights - 4)));
  EXPECT_EQ(planned.shortfall, Bytes(4 + kArena));
  EXPECT_TRUE(planned.proven_infeasible);
}

TEST(PlannedWeights, DoNotCountAgainstABudget) {
  const Bytes budget(64 + kArena);
  const PlannedGraph planned = must_plan(graph_of(kWeighted), {.budget = budget}, one_region(Bytes(8'192)));
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(planned.capacity, budget);
  EXPECT_EQ(planned.counted, budget);
  EXPECT_FALSE(planned.counts_weights);
}

// The weights take 1,044 of 1,200 bytes, so that only c is in the first region.
TEST(PlannedWeights, LeaveSpaceInTheFirstOfTwoRegions) {
  Target target = two_regions(Bytes(64), Bytes(64), Bytes(1'200));
  target.machine.constants = RegionId(0);
  const PlannedGraph planned = must_plan(graph_of(kWeighted), {}, target);
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(planned.plan.layout.arena, (std::vector<Bytes>{Bytes(64), Bytes(256)}));
}

TEST(PlannedWeights, WithoutAStatedRegionNothingChanges) {
  const PlannedGraph planned = must_plan(graph_of(kWeighted));
  EXPECT_FALSE(planned.weights);
  EXPECT_FALSE(planned.plan.machine.constants);
}

TEST(PlannedWeights, TargetsThatCannotRunAreRefused) {
  const auto refusal = [](const Target& target) { return plan_graph(graph_of(kWeighted), target).error().message; };
  Target target = with_flash(std::nullopt, std::nullopt);
  target.machine.constants = RegionId(2);
  EXPECT_NE(refusal(target).find("constants are in region 2"), std::string::npos);
  target.machine.constants = RegionId(0);
  target.machine.workers[WorkerId(0)].addressable = {RegionId(1)};
  EXPECT_NE(refusal(target).find("constants are in region 0"), std::string::npos);
  target.machine.constants = std::nullopt;
  target.machine.regions[1].is_read_only = true;
  EXPECT_NE(refusal(target).find("needs a region that it can address and write"), std::string::npos);
}

// A random target with a read-only region at a random position. Constants are in one of its regions.
Target random_target_with_constants(Random& random) {
  Target target = random_target(random);
  std::vector<Region>& regions = target.machine.regions;
  const Region flash{.name = "flash",
                     .capacity = random.chance(80) ? std::optional(Bytes(random.between(1, 512))) : std::nullopt,
                     .alignment = Bytes(std::int64_t{1} << random.below(9)),
                     .is_read_only = true};
  regions.insert(regions.begin() + static_cast<std::ptrdiff_t>(random.below(regions.size() + 1)), flash);
  if (random.chance(50)) regions[0].capacity = Bytes(random.between(1, 4'096));
  target.machine.constants = RegionId(static_cast<std::uint32_t>(random.below(regions.size())));
  return target;
}

// must_plan verifies each plan against the graph and the target.
TEST(PlannedWeights, RandomPlansKeepOutOfReadOnlyRegions) {
  Random random(61);
  int fitting = 0;
  int missed = 0;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(1, 20)));
    const Target target = random_target_with_constants(random);
    const PlanOptions options{.streams = static_cast<std::uint32_t>(random.between(1, 2)),
                              .run = random.chance(20) ? ExecutionModel::dataflow : ExecutionModel::streams};
    const PlannedGraph planned = must_plan(graph, options, target);
    for (std::size_t at = 0; at < target.machine.regions.size(); ++at) {
      if (!target.machine.regions[at].is_read_only) continue;
      ASSERT_EQ(planned.plan.layout.arena[at], Bytes(0));
    }
    const Bytes arena = planned.plan.layout.arena[planned.weights->id.index()];
    const std::optional<Bytes>& capacity = planned.weights->region.capacity;
    if (planned.fits() && capacity) {
      ASSERT_LE(round_up(arena, planned.weights->region.alignment) + planned.weights->bytes, *capacity);
    }
    ++(planned.fits() ? fitting : missed);
  }
  EXPECT_GE(std::min(fitting, missed), kRounds / 8);
}

}  // namespace
}  // namespace lowtide::testing
