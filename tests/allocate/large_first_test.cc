// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/large_first.h"

#include <gtest/gtest.h>

#include "lowtide/allocate/greedy/best_fit.h"
#include "lowtide/allocate/problem/load_bound.h"
#include "lowtide/allocate/strategies/table.h"
#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

using testing::defect_of;

// Each buffer on top of all before it: valid for any problem without fixed buffers, and poor.
Placements stacked(const CompressedProblem& problem) {
  Placements placements{.offsets = IdVector<PackingId, std::int64_t>(problem.buffers.size(), 0), .height = 0};
  for (PackingId id : problem.movable) {
    const std::int64_t alignment = problem.buffers[id].alignment();
    placements.offsets[id] = (placements.height + alignment - 1) & -alignment;
    placements.height = placements.offsets[id] + problem.buffers[id].size;
  }
  return placements;
}

struct Improved {
  Placements placements;
  std::int64_t bound = 0;
  bool is_lower = false;
};

Improved improved(const PackingProblem& problem, Placements start, int times = 1, std::int64_t limit = 1'000'000) {
  const CompressedProblem compressed = compress(problem);
  Effort effort{.limit = 100'000'000};
  const std::int64_t bound = height_bound(compressed).height;
  StoppingRule stopping(compressed, bound, problem.capacity);
  Incumbent best(std::move(start), "start");
  StrategyContext context{.problem = compressed, .stopping = stopping, .best = best, .effort = effort};
  context.facts.graph = conflict_graph(compressed, effort);
  const std::unique_ptr<Strategy> large_first = make_large_first(context, strategies());
  const std::int64_t before = best.height();
  for (int time = 0; time < times; ++time) large_first->run(limit);
  const Improved out{.placements = best.placements(), .bound = bound, .is_lower = best.height() < before};
  EXPECT_EQ(best.strategy(), out.is_lower ? "large_first" : "start");
  return out;
}

Improved improved(const PackingProblem& problem, int times = 1) {
  return improved(problem, stacked(compress(problem)), times);
}

// s is in conflict with both large buffers. It goes below them, into the 8 bytes between their height and the load.
//
//   1008 +-------+-------+
//        |   a   |   b   |
//      8 +---+---+---+---+
//      0     |   s   |
TEST(LargeFirst, PutsSmallBuffersBelowLargeOnes) {
  const PackingProblem problem = testing::problem_of({{0, 4, 1000}, {4, 8, 1000}, {2, 6, 8}});
  const Improved found = improved(problem);
  EXPECT_TRUE(found.is_lower);
  EXPECT_EQ(found.placements.height, 1008);
  EXPECT_EQ(found.placements.offsets[PackingId(0)], 8);
  EXPECT_EQ(found.placements.offsets[PackingId(1)], 8);
  EXPECT_EQ(found.placements.offsets[PackingId(2)], 0);
}

// 16 bytes are more than a 64th of 1,016, but less than a 16th. So they are small in the second division.
TEST(LargeFirst, UsesAnotherThresholdInTheNextRun) {
  const PackingProblem problem = testing::problem_of({{0, 4, 1000}, {4, 8, 1000}, {2, 6, 16}});
  EXPECT_EQ(improved(problem).placements.height, 1016);  // only this division has small buffers
  const PackingProblem both = testing::problem_of({{0, 4, 1000}, {4, 8, 1000}, {2, 6, 40}, {1, 7, 8}});
  const Improved twice = improved(both, 2);
  EXPECT_EQ(twice.bound, 1048);
  EXPECT_EQ(twice.placements.height, 1048);
  EXPECT_EQ(defect_of(both, twice.placements), "");
}

TEST(LargeFirst, DoesNothingForEqualSizesAndRelations) {
  const PackingProblem alike = testing::problem_of({{0, 2, 10}, {0, 4, 10}, {2, 6, 10}});
  EXPECT_FALSE(improved(alike).is_lower);
  const PackingProblem mixed = testing::problem_of({{0, 2, 1000}, {4, 6, 1000}, {1, 5, 8}});
  EXPECT_TRUE(improved(mixed).is_lower);
  EXPECT_FALSE(improved(testing::without_time(mixed)).is_lower);
}

// The large buffers keep their alignment when they are pushed up. The target of 1,064 leaves 40 bytes, which is less
// than their alignment of 64, so they stay at 0. The small buffer fits above them.
TEST(LargeFirst, KeepsAlignments) {
  PackingProblem problem = testing::problem_of({{0, 4, 1024}, {4, 8, 1024}, {2, 6, 40}});
  problem.buffers[PackingId(0)].alignment = Bytes(64);
  problem.buffers[PackingId(1)].alignment = Bytes(64);
  problem.buffers[PackingId(2)].alignment = Bytes(8);
  const Improved found = improved(problem);
  EXPECT_EQ(found.placements.height, 1064);
  EXPECT_EQ(defect_of(problem, found.placements), "");
}

// Large buffers that fill 200 units of 4 KiB without a free byte, and 200 random buffers of at most 64 bytes. (The
// first two divisions count large buffers of few units as small.)
PackingProblem mixed_problem(std::uint64_t seed) {
  PackingProblem problem = testing::cut_rectangle(seed, {.moments = 200, .bytes = 200, .buffers = 24});
  for (PackingBuffer& buffer : problem.buffers) buffer.size = Bytes(buffer.size.count() * 4096);
  Random random(seed);
  for (int small = 0; small < 200; ++small) {
    const std::int64_t begin = random.between(0, 180);
    problem.buffers.push_back(
        {.lifespan = {begin, begin + random.between(1, 20)}, .gaps = {}, .size = Bytes(random.between(1, 64))});
  }
  return problem;
}

TEST(LargeFirst, NeedsLittleMoreThanTheLargeBuffers) {
  int met = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const PackingProblem problem = mixed_problem(seed);
    const Improved found = improved(problem, stacked(compress(problem)), 3, 20'000'000);
    ASSERT_TRUE(found.is_lower) << seed;
    ASSERT_EQ(defect_of(problem, found.placements), "") << seed;
    // Twice the load of the small buffers is more than enough for them.
    const std::int64_t small = found.bound - 200 * 4096;
    ASSERT_LE(found.placements.height, found.bound + small) << seed;
    met += found.placements.height == found.bound ? 1 : 0;
  }
  // Measured: 11 of 20.
  EXPECT_GE(met, 8);
}

TEST(LargeFirst, IsValidWithGapsAndFixedBuffers) {
  Random random(5);
  int lower = 0;
  for (int round = 0; round < 300; ++round) {
    PackingProblem problem = testing::random_valid_problem(random, {.most_buffers = 12,
                                                                    .most_size = 9,
                                                                    .moments = 10,
                                                                    .alignments = round % 2 == 0,
                                                                    .gaps = true,
                                                                    .fixed = round % 3 == 0});
    for (PackingBuffer& buffer : problem.buffers) {
      if (!buffer.fixed_offset && random.between(0, 1) == 1) buffer.size = Bytes(buffer.size.count() * 1024);
    }
    const CompressedProblem compressed = compress(problem);
    Effort effort{.limit = 1'000'000};
    const Improved found = improved(problem, best_fit(compressed, effort), 3);
    ASSERT_EQ(defect_of(problem, found.placements), "") << round;
    lower += found.is_lower ? 1 : 0;
  }
  EXPECT_GT(lower, 20);
}

}  // namespace
}  // namespace lowtide::allocate_internal
