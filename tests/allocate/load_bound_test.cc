// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/load_bound.h"

#include <gtest/gtest.h>

#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

using testing::problem_of;

std::int64_t bound_of(const PackingProblem& problem) { return height_bound(compress(problem)).height; }

TEST(LoadBound, IsTheLargestLoad) {
  // At 2: 10 + 20; at 4: 20 + 5.
  EXPECT_EQ(bound_of(problem_of({{0, 3, 10}, {2, 5, 20}, {4, 6, 5}})), 30);
}

TEST(LoadBound, DoesNotAddEndsToBegins) { EXPECT_EQ(bound_of(problem_of({{0, 3, 10}, {3, 5, 20}})), 20); }

TEST(LoadBound, LeavesOutTheGaps) {
  PackingProblem problem = problem_of({{0, 9, 10}, {3, 5, 20}});
  EXPECT_EQ(bound_of(problem), 30);
  problem.buffers[PackingId(0)].gaps = {{3, 6}};
  EXPECT_EQ(bound_of(problem), 20);
}

// The padding of a single buffer is above everything and costs nothing: 10, not 64.
TEST(LoadBound, DoesNotRoundTheBufferOnTop) {
  PackingProblem problem = problem_of({{0, 1, 10}});
  problem.buffers[PackingId(0)].alignment = Bytes(64);
  EXPECT_EQ(bound_of(problem), 10);
}

// Offsets 0 and 64: 64 + 10.
TEST(LoadBound, RoundsTheBuffersBelow) {
  PackingProblem problem = problem_of({{0, 1, 10}, {0, 1, 10}});
  for (PackingBuffer& buffer : problem.buffers) buffer.alignment = Bytes(64);
  EXPECT_EQ(bound_of(problem), 74);
  EXPECT_EQ(testing::least_height(problem), 74);
}

// With the buffer of 60 bytes below, the height is 64 + 10 = 74. With the one of 10 bytes below, it is 64 + 60 = 124.
// The bound is 64 + 64 minus the larger padding, 54.
TEST(LoadBound, SubtractsTheLargestPadding) {
  PackingProblem problem = problem_of({{0, 1, 60}, {0, 1, 10}});
  for (PackingBuffer& buffer : problem.buffers) buffer.alignment = Bytes(64);
  EXPECT_EQ(bound_of(problem), 74);
  EXPECT_EQ(testing::least_height(problem), 74);
}

// A third buffer of 30 bytes without alignment fits into the padding.
TEST(LoadBound, LetsUnalignedBuffersFillPadding) {
  PackingProblem problem = problem_of({{0, 1, 10}, {0, 1, 10}, {0, 1, 30}});
  problem.buffers[PackingId(0)].alignment = Bytes(64);
  problem.buffers[PackingId(1)].alignment = Bytes(64);
  EXPECT_EQ(bound_of(problem), 74);  // the load is 50
  EXPECT_EQ(testing::least_height(problem), 74);
}

TEST(LoadBound, IsAtLeastTheEndOfFixedBuffers) {
  PackingProblem problem = problem_of({{0, 3, 10}, {2, 5, 20}});
  problem.buffers[PackingId(0)].fixed_offset = Offset(90);
  const HeightBound bound = height_bound(compress(problem));
  EXPECT_EQ(bound.height, 100);
  EXPECT_EQ(bound.witness, 0U);
}

TEST(LoadBound, NeverExceedsTheOptimumOfSmallProblems) {
  Random random(5);
  int above_load = 0;
  for (int round = 0; round < 1500; ++round) {
    const PackingProblem problem = testing::random_problem(
        random, {.most_buffers = 5, .alignments = true, .gaps = round % 2 == 0, .fixed = round % 3 == 0});
    const std::int64_t bound = bound_of(problem);
    EXPECT_LE(bound, testing::least_height(problem)) << "round " << round;
    EXPECT_GE(bound, testing::largest_load(problem)) << "round " << round;
    above_load += bound > testing::largest_load(problem) ? 1 : 0;
  }
  EXPECT_GT(above_load, 200);  // rounding and fixed ends raise it
}

TEST(LoadProfile, AddsUpTheActiveSizes) {
  PackingProblem problem = problem_of({{10, 40, 3}, {20, 30, 5}});
  // Moments 10, 20, 30, 40.
  EXPECT_EQ(load_profile(compress(problem)), (std::vector<std::int64_t>{3, 8, 3, 0}));
}

}  // namespace
}  // namespace lowtide::allocate_internal
