// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "lowtide/allocate/regions/validate_regions.h"
#include "lowtide/verify/check_packing.h"
#include "tests/allocate/region_problems.h"

namespace lowtide::allocate_internal {
namespace {

using ::testing::HasSubstr;
using testing::region_problem_of;

std::string defects_of(const RegionProblem& problem, const RegionPacking& packing) {
  std::string text;
  for (const Violation& one : check_region_packing(problem, packing)) text += one.message + "\n";
  return text;
}

std::vector<std::uint32_t> regions_of(const RegionPacking& packing) {
  std::vector<std::uint32_t> regions;
  for (const Placement& placement : packing.placements) regions.push_back(placement.region.value());
  return regions;
}

RegionPacking must_allocate_regions(const RegionProblem& problem, const RegionOptions& options = {}) {
  Result<RegionPacking> packing = allocate_regions(problem, options);
  EXPECT_TRUE(packing.ok()) << packing.error().describe();
  EXPECT_EQ(defects_of(problem, *packing), "");
  return *std::move(packing);
}

TEST(Regions, AllBuffersAreInTheFirstIfTheyFit) {
  const RegionPacking packing =
      must_allocate_regions(region_problem_of({{0, 2, 32}, {1, 3, 32}}, {{.capacity = Bytes(64)}, {}}));
  EXPECT_EQ(regions_of(packing), (std::vector<std::uint32_t>{0, 0}));
  EXPECT_EQ(packing.cost, RegionCost{0});
  EXPECT_TRUE(packing.proven_optimal);
  EXPECT_EQ(packing.strategy, "all_preferred");
  EXPECT_EQ(packing.fills[RegionId(0)].height, Bytes(64));
}

// The example of region_packing.h: 160 bytes are live at step 1, and 96 fit, so 64 must leave. b costs 96 and frees too
// little.
TEST(Regions, KeepTheBuffersThatAreWorthMost) {
  const RegionPacking packing = must_allocate_regions(
      region_problem_of({{0, 2, 64}, {1, 3, 32}, {1, 2, 64}}, {{.capacity = Bytes(96)}, {}}, {2, 3, 2}));
  EXPECT_EQ(packing.placements[PackingId(1)].region, RegionId(0));
  EXPECT_EQ(packing.cost, RegionCost{128});
  EXPECT_TRUE(packing.proven_optimal);
}

// 10 of 30 bytes fit the first region, and 10 the second. So 20 are outside the first, and 10 outside the first two.
TEST(Regions, CountBytesPerCostLevel) {
  const RegionPacking packing = must_allocate_regions(
      region_problem_of({{0, 1, 10}, {0, 1, 10}, {0, 1, 10}}, {{.capacity = Bytes(10)}, {.capacity = Bytes(10)}, {}}));
  EXPECT_EQ(packing.cost, (RegionCost{20, 10}));
  EXPECT_TRUE(packing.proven_optimal);
}

TEST(Regions, BuffersStayOutOfForbiddenRegions) {
  RegionProblem problem = region_problem_of({{0, 1, 10}}, {{}, {}}, {1});
  problem.uses[PackingId(0)].forbidden = {RegionId(0)};
  const RegionPacking packing = must_allocate_regions(problem);
  EXPECT_EQ(regions_of(packing), std::vector<std::uint32_t>{1});
  EXPECT_EQ(packing.cost, RegionCost{10});
  EXPECT_TRUE(packing.proven_optimal);
}

TEST(Regions, FixedBuffersAreInTheFirstAllowedRegion) {
  RegionProblem problem = region_problem_of({{0, 1, 10}, {0, 1, 8}}, {{}, {.capacity = Bytes(26)}, {}}, {1, 1});
  problem.packing.buffers[PackingId(0)].fixed_offset = Offset(16);
  problem.uses[PackingId(0)].forbidden = {RegionId(0)};
  const RegionPacking packing = must_allocate_regions(problem);
  EXPECT_EQ(packing.placements[PackingId(0)], (Placement{RegionId(1), Offset(16)}));
  EXPECT_EQ(packing.placements[PackingId(1)], (Placement{RegionId(0), Offset(0)}));
}

TEST(Regions, AGroupGoesToOneRegion) {
  RegionProblem problem = region_problem_of({{0, 1, 16}, {1, 2, 8}, {0, 2, 8}}, {{.capacity = Bytes(20)}, {}});
  problem.packing.colocations = {{PackingId(0), PackingId(1), Bytes(4)}};
  const RegionPacking packing = must_allocate_regions(problem);
  // Outside are either the 16 + 8 bytes of the group, or the 8 bytes of the other buffer.
  EXPECT_EQ(regions_of(packing), (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(packing.cost, RegionCost{8});
  EXPECT_TRUE(packing.proven_optimal);
}

// 10 + 10 bytes are live at moment 4, and 19 fit.
TEST(Regions, AMomentProvesThatBuffersDoNotFit) {
  const RegionPacking packing = must_allocate_regions(
      region_problem_of({{0, 5, 10}, {4, 6, 10}}, {{.capacity = Bytes(10)}, {.capacity = Bytes(9)}}));
  EXPECT_EQ(packing.outcome, PackingOutcome::infeasible);
  ASSERT_TRUE(packing.witness);
  EXPECT_EQ(packing.witness->time, 4);
  EXPECT_EQ(packing.witness->buffers, (std::vector<PackingId>{PackingId(0), PackingId(1)}));
  EXPECT_EQ(packing.witness->needed, Bytes(20));
  EXPECT_FALSE(packing.proven_optimal);
}

// All three buffers are in conflict, and no region holds two of them, although all regions together have enough bytes.
TEST(Regions, ASearchProvesThatBuffersDoNotFit) {
  const RegionPacking packing = must_allocate_regions(
      region_problem_of({{0, 1, 10}, {0, 1, 10}, {0, 1, 10}}, {{.capacity = Bytes(18)}, {.capacity = Bytes(18)}}));
  EXPECT_EQ(packing.outcome, PackingOutcome::infeasible);
  EXPECT_FALSE(packing.witness);
  EXPECT_TRUE(packing.is_bound_searched);
}

// One region, in which the loads fit but the offsets do not: 4 + 4 + 2 bytes without the last padding are 9, but the
// least height is 10 (Allocate, ProvesBySearchThatACapacityIsTooSmall).
TEST(Regions, ACompleteSearchReportsItsDecisions) {
  RegionProblem problem = region_problem_of({{0, 1, 3}, {0, 1, 3}, {0, 1, 2}}, {{.capacity = Bytes(9)}});
  for (std::uint32_t at = 0; at < 3; ++at) problem.packing.buffers[PackingId(at)].alignment = Bytes(at < 2 ? 4 : 2);
  const RegionPacking packing = must_allocate_regions(problem);
  EXPECT_EQ(packing.outcome, PackingOutcome::infeasible);
  EXPECT_FALSE(packing.witness);
  EXPECT_TRUE(packing.is_bound_searched);
  EXPECT_GT(packing.decisions, 0);
}

TEST(Regions, NoBuffersNeedNothing) {
  const RegionPacking packing = must_allocate_regions(region_problem_of({}, {{.capacity = Bytes(0)}, {}}));
  EXPECT_EQ(packing.cost, RegionCost{0});
  EXPECT_TRUE(packing.proven_optimal);
}

struct Refusal {
  const char* name;
  RegionProblem problem;
  ErrorCode code;
  const char* message;
};

TEST(Regions, InvalidProblemsAreRefused) {
  const RegionProblem good = region_problem_of({{0, 1, 10}}, {{}, {}}, {1});
  std::vector<Refusal> refusals(8, {"", good, ErrorCode::invalid, ""});
  refusals[0].problem.regions = {};
  refusals[0].message = "there are no regions";
  refusals[1].problem.regions[RegionId(1)].capacity = Bytes(-1);
  refusals[1].message = "the capacity -1 is below 0";
  refusals[2].problem.regions[RegionId(1)].alignment = Bytes(3);
  refusals[2].message = "the alignment 3 is not a power of two";
  refusals[3].problem.uses[PackingId(0)].weight = -4;
  refusals[3].message = "the weight -4 is below 0";
  refusals[4].problem.uses[PackingId(0)].forbidden = {RegionId(0), RegionId(1)};
  refusals[4].message = "all 2 regions are forbidden for it";
  refusals[5].problem.uses[PackingId(0)].weight = std::int64_t{1} << 60;
  refusals[5].code = ErrorCode::over_limit;
  refusals[5].message = "add up to more than kMaxTotalBytes";
  refusals[6].problem.packing.capacity = Bytes(5);
  refusals[6].message = "give capacities to the regions instead";
  for (int more = 0; more < 15; ++more) refusals[7].problem.regions.push_back({});
  refusals[7].code = ErrorCode::over_limit;
  refusals[7].message = "there are 17 regions, above kMaxRegions = 16";
  for (const Refusal& refusal : refusals) {
    const Result<RegionPacking> packing = allocate_regions(refusal.problem);
    ASSERT_FALSE(packing.ok()) << refusal.message;
    EXPECT_EQ(packing.error().code, refusal.code) << refusal.message;
    EXPECT_THAT(packing.error().message, HasSubstr(refusal.message));
  }
}

// Problems with all features, small enough for brute force.
testing::RegionFeatures features_of(int round) {
  testing::RegionFeatures features;
  const int kind = round % 16;
  features.packing = {.most_buffers = round % 3 == 0 ? 6 : 5,
                      .most_size = round % 2 == 0 ? 12 : 4,
                      .moments = 6,
                      .alignments = kind == 1 || kind == 7,
                      .gaps = kind == 2 || kind == 7,
                      .fixed = kind == 3 || kind == 7,
                      .zero_sizes = kind == 4,
                      .extreme_times = kind == 5,
                      .relation = kind == 6 || kind == 8};
  features.weights = round % 7 < 4;
  features.forbidden = kind > 9 && round % 3 == 1;
  features.alignments = kind == 1 || kind == 12 || kind == 7;
  features.all_bounded = kind > 12;
  return features;
}

void expect_least(const RegionProblem& problem, int round, int& found, int& infeasible) {
  const Result<RegionPacking> packing = allocate_regions(problem);
  ASSERT_TRUE(packing.ok()) << packing.error().describe();
  ASSERT_EQ(defects_of(problem, *packing), "") << "round " << round;
  const std::optional<RegionCost> least = testing::least_cost(problem);
  ASSERT_EQ(packing->outcome, least ? PackingOutcome::found : PackingOutcome::infeasible) << "round " << round;
  if (!least) {
    ++infeasible;
    ASSERT_NE(packing->witness.has_value(), packing->is_bound_searched) << "round " << round;
    return;
  }
  ++found;
  ASSERT_EQ(packing->cost, *least) << "round " << round;
  ASSERT_TRUE(packing->proven_optimal) << "round " << round;
  // Almost without effort, the answer is still valid, and the bound is not above the least cost.
  const Result<RegionPacking> quick = allocate_regions(problem, {.effort = 1});
  ASSERT_EQ(defects_of(problem, *quick), "") << "round " << round;
  ASSERT_LE(quick->bound, *least) << "round " << round;
  if (quick->outcome == PackingOutcome::found) {
    ASSERT_GE(quick->cost, *least) << "round " << round;
  }
  ASSERT_NE(quick->outcome, PackingOutcome::infeasible) << "round " << round;
}

TEST(Regions, HaveTheLeastCostThatBruteForceFinds) {
  Random random(73);
  int found = 0;
  int infeasible = 0;
  for (int round = 0; round < 4000 && !::testing::Test::HasFatalFailure(); ++round) {
    expect_least(testing::random_region_problem(random, features_of(round)), round, found, infeasible);
  }
  EXPECT_GE(found, 1500);
  EXPECT_GE(infeasible, 500);
}

TEST(Regions, HaveTheLeastCostWithGroups) {
  Random random(74);
  int found = 0;
  int infeasible = 0;
  for (int round = 0; round < 400 && !::testing::Test::HasFatalFailure(); ++round) {
    testing::RegionFeatures features{
        .packing = {.most_buffers = 4, .most_size = 5, .moments = 4, .alignments = round % 4 == 0, .colocations = true},
        .weights = round % 3 == 0,
        .forbidden = round % 7 == 0};
    expect_least(testing::random_region_problem(random, features), round, found, infeasible);
  }
  EXPECT_GE(found, 150);
  EXPECT_GE(infeasible, 20);
}

// More effort never costs more, and the bound never falls.
TEST(Regions, MoreEffortIsNeverWorse) {
  Random random(75);
  int improved = 0;
  for (int round = 0; round < 12; ++round) {
    RegionProblem problem = testing::random_region_problem(
        random, {.packing = {.most_buffers = 60, .most_size = 100, .moments = 40}, .weights = true});
    std::optional<RegionPacking> before;
    for (std::int64_t effort : {1, 100'000, 1'000'000, 4'000'000}) {
      Result<RegionPacking> packing = allocate_regions(problem, {.effort = effort});
      ASSERT_EQ(defects_of(problem, *packing), "");
      if (before && before->outcome == PackingOutcome::found) {
        ASSERT_EQ(packing->outcome, PackingOutcome::found) << "round " << round;
        ASSERT_LE(packing->cost, before->cost) << "round " << round;
        ASSERT_GE(packing->bound, before->bound) << "round " << round;
        improved += packing->cost < before->cost ? 1 : 0;
      }
      before = *std::move(packing);
    }
  }
  EXPECT_GE(improved, 1);
}

// Activations of networks. Half of the peak fits into the first region.
TEST(Regions, AreNearTheBoundOnNetworks) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    RegionProblem problem;
    problem.packing = testing::network_like_problem(300, seed);
    Random random(seed);
    for (std::size_t at = 0; at < problem.packing.buffers.size(); ++at) {
      problem.uses.push_back({.weight = random.between(1, 4), .forbidden = {}});
    }
    problem.regions.push_back({.capacity = Bytes(testing::largest_load(problem.packing) / 2)});
    problem.regions.push_back({});
    const RegionPacking packing = must_allocate_regions(problem, {.effort = 20'000'000});
    EXPECT_LE(static_cast<double>(packing.cost[0]), 1.02 * static_cast<double>(packing.bound[0])) << "seed " << seed;
  }
}

TEST(Regions, TheAnswerDoesNotDependOnThreads) {
  Random random(76);
  for (int round = 0; round < 10; ++round) {
    const RegionProblem problem = testing::random_region_problem(
        random, {.packing = {.most_buffers = 40, .most_size = 100, .moments = 30}, .weights = true});
    const RegionPacking one = must_allocate_regions(problem, {.effort = 1'000'000});
    const RegionPacking four = must_allocate_regions(problem, {.effort = 1'000'000, .threads = 4});
    EXPECT_EQ(one.placements, four.placements);
    EXPECT_EQ(one.bound, four.bound);
  }
}

TEST(Regions, StopWhenTheFlagIsSet) {
  const std::atomic<bool> stop = true;
  RegionProblem problem;
  problem.packing = testing::network_like_problem(2000, 3);
  problem.regions.push_back({.capacity = Bytes(testing::largest_load(problem.packing) / 2)});
  problem.regions.push_back({});
  const RegionPacking packing = must_allocate_regions(problem, {.stop = &stop});
  EXPECT_EQ(packing.outcome, PackingOutcome::found);
}

// The effort would last for years, so only the other thread ends it. The answer is valid at any time.
TEST(Regions, StopAtAnyTime) {
  RegionProblem problem;
  problem.packing = testing::network_like_problem(2000, 3);
  problem.regions.push_back({.capacity = Bytes(testing::largest_load(problem.packing) / 2)});
  problem.regions.push_back({});
  for (int milliseconds : {0, 1, 10, 100}) {
    std::atomic<bool> stop = false;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      stop = true;
    });
    const RegionPacking packing = must_allocate_regions(problem, {.effort = 1'000'000'000'000'000, .stop = &stop});
    other.join();
    EXPECT_EQ(packing.outcome, PackingOutcome::found);
    EXPECT_FALSE(packing.proven_optimal);  // so it has not ended by itself
    EXPECT_LE(packing.bound, packing.cost);
  }
}

}  // namespace
}  // namespace lowtide::allocate_internal
