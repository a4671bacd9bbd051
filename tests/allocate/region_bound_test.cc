// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_bound.h"

#include <gtest/gtest.h>

#include "tests/allocate/region_problems.h"

namespace lowtide::allocate_internal {
namespace {

using testing::region_problem_of;

std::int64_t region_bound_of(const RegionProblem& problem, LevelId level = LevelId(0)) {
  const Result<RegionModel> model = RegionModel::build(problem);
  RegionBound bound(*model, level);
  bound.raise(1'000, 10'000'000);
  return bound.bound();
}

// At moment 1, 40 bytes are live, but 24 fit: 16 are outside.
TEST(RegionBound, CountsTheExcessOfOneMoment) {
  EXPECT_EQ(region_bound_of(region_problem_of({{0, 2, 16}, {1, 2, 24}}, {{.capacity = Bytes(24)}, {}})), 16);
}

// 16 bytes too many at moments 0 and 2, which have no buffer in common: 32.
TEST(RegionBound, AddsMomentsWithoutACommonBuffer) {
  const RegionProblem problem =
      region_problem_of({{0, 1, 16}, {0, 1, 24}, {2, 3, 16}, {2, 3, 24}}, {{.capacity = Bytes(24)}, {}});
  EXPECT_EQ(region_bound_of(problem), 32);
}

// The same 16 bytes are too many at both moments, so it is enough that one buffer of 16 bytes is outside.
TEST(RegionBound, CountsABufferOfTwoMomentsOnce) {
  const RegionProblem problem = region_problem_of({{0, 2, 16}, {0, 1, 24}, {1, 2, 24}}, {{.capacity = Bytes(24)}, {}});
  EXPECT_EQ(region_bound_of(problem), 16);
}

// Either a or b fits, and either b or c. a and c cost 16 each, b would cost 48.
TEST(RegionBound, KnowsWeights) {
  const RegionProblem problem =
      region_problem_of({{0, 1, 16}, {0, 2, 16}, {1, 2, 16}}, {{.capacity = Bytes(16)}, {}}, {1, 3, 1});
  EXPECT_EQ(region_bound_of(problem), 32);
}

// 30 bytes are live at one moment. 10 fit into the first region, and 10 + 10 into the first two.
TEST(RegionBound, KnowsSeveralRegions) {
  const RegionProblem problem =
      region_problem_of({{0, 1, 10}, {0, 1, 10}, {0, 1, 10}}, {{.capacity = Bytes(10)}, {.capacity = Bytes(10)}, {}});
  EXPECT_EQ(region_bound_of(problem, LevelId(0)), 20);
  EXPECT_EQ(region_bound_of(problem, LevelId(1)), 10);
}

TEST(RegionBound, RoundsSizesUpToTheAlignment) {
  const RegionProblem problem =
      region_problem_of({{0, 1, 10}, {0, 1, 10}, {0, 1, 10}}, {{.capacity = Bytes(32), .alignment = Bytes(16)}, {}});
  EXPECT_EQ(region_bound_of(problem), 10);  // 30 bytes would fit into 32, but the 48 rounded bytes do not
}

TEST(RegionBound, IsNeverAboveTheLeastCost) {
  Random random(72);
  std::int64_t bounded = 0;
  std::int64_t met = 0;
  for (int round = 0; round < 4000; ++round) {
    const RegionProblem problem = testing::random_region_problem(random, {.packing = {.most_buffers = 5,
                                                                                      .most_size = 12,
                                                                                      .moments = 6,
                                                                                      .alignments = round % 3 == 0,
                                                                                      .gaps = round % 4 == 0,
                                                                                      .fixed = round % 8 == 0},
                                                                          .weights = round % 5 < 3,
                                                                          .forbidden = round % 7 < 2,
                                                                          .alignments = round % 3 == 1});
    const std::optional<RegionCost> least = testing::least_cost(problem);
    if (!least) continue;
    for (LevelId level : all_ids<LevelId>(least->size())) {
      const std::int64_t bound = region_bound_of(problem, level);
      ASSERT_LE(bound, (*least)[level.index()]) << "round " << round;
      if (level > LevelId(0) || (*least)[0] == 0) continue;
      ++bounded;
      met += bound == (*least)[0] ? 1 : 0;
    }
  }
  EXPECT_GE(bounded, 1000);
  EXPECT_GE(100 * met, 50 * bounded) << met << " of " << bounded;
}

}  // namespace
}  // namespace lowtide::allocate_internal
