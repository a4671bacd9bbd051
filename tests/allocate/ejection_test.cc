// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/improve/ejection.h"

#include <gtest/gtest.h>

#include "lowtide/allocate/greedy/best_fit.h"
#include "lowtide/allocate/problem/load_bound.h"
#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

using testing::defect_of;

struct Start {
  CompressedProblem problem;
  std::int64_t bound = 0;
  std::optional<ConflictGraph> graph;
  Placements placements;
};

Start start_of(const PackingProblem& problem) {
  Start start{.problem = compress(problem)};
  Effort effort{.limit = 1'000'000'000};
  start.bound = height_bound(start.problem).height;
  start.graph = conflict_graph(start.problem, effort);
  start.placements = best_fit(start.problem, effort);
  return start;
}

bool lowers(Start& start, Effort& effort) {
  Incumbent best(start.placements, "start");
  const bool is_lower =
      lower_by_ejection(start.problem, &*start.graph, {.bound = start.bound, .seed = 1}, best, effort);
  EXPECT_EQ(best.strategy(), is_lower ? "ejection" : "start");
  start.placements = best.placements();
  return is_lower;
}

// A poor start: b is on top of a, and c, which is in conflict only with b, is on top of b. The load is 10 + 4 at 0, and
// 4 + 10 at 2.
//
//   24 +           +---+
//      |           | c |       14 +-------+-----+
//   14 +-----------+---+          |   a   |  c  |
//      |     b     |            4 +-------+-----+
//   10 +-----+-----+              |     b     |
//      |  a  |                  0 +-----------+
//    0 +-----+
TEST(Ejection, ImprovesAPoorStart) {
  const PackingProblem problem = testing::problem_of({{0, 2, 10}, {0, 4, 4}, {2, 6, 10}});
  Start start = start_of(problem);
  start.placements.offsets[PackingId(0)] = 0;
  start.placements.offsets[PackingId(1)] = 10;
  start.placements.offsets[PackingId(2)] = 14;
  start.placements.height = 24;
  Effort effort{.limit = 10'000};
  EXPECT_TRUE(lowers(start, effort));
  EXPECT_EQ(start.placements.height, 14);
  EXPECT_EQ(defect_of(problem, start.placements), "");
}

TEST(Ejection, DoesNothingAtTheBound) {
  Start start = start_of(testing::problem_of({{0, 2, 10}, {1, 4, 4}}));
  const auto before = start.placements.offsets;
  Effort effort{.limit = 10'000};
  EXPECT_FALSE(lowers(start, effort));
  EXPECT_EQ(start.placements.offsets, before);
  EXPECT_EQ(effort.spent, 0);
}

// The second buffer has 6 bytes, which do not fit below the buffer fixed at [5, 10). The search gives up, and all
// offsets stay as they were.
TEST(Ejection, GivesUpIfFixedBuffersAreInTheWay) {
  PackingProblem problem = testing::problem_of({{0, 1, 5}, {0, 1, 6}});
  problem.buffers[PackingId(0)].fixed_offset = Offset(5);
  Start start = start_of(problem);
  Effort effort{.limit = 1'000'000};
  EXPECT_FALSE(lowers(start, effort));
  EXPECT_EQ(start.placements.height, 16);
  EXPECT_FALSE(effort.exhausted());
}

TEST(Ejection, StaysValidAndNeverRaisesTheHeight) {
  Random random(41);
  int lowered = 0;
  for (int round = 0; round < 300; ++round) {
    const PackingProblem problem = testing::random_problem(random, {.most_buffers = 40,
                                                                    .most_size = 60,
                                                                    .moments = 30,
                                                                    .alignments = round % 2 == 0,
                                                                    .gaps = round % 3 == 0,
                                                                    .fixed = round % 5 == 0});
    Start start = start_of(problem);
    const std::int64_t before = start.placements.height;
    Effort effort{.limit = 200'000};
    const bool is_lower = lowers(start, effort);
    ASSERT_EQ(is_lower, start.placements.height < before);
    ASSERT_LE(start.placements.height, before);
    ASSERT_GE(start.placements.height, start.bound);
    ASSERT_EQ(defect_of(problem, start.placements), "") << "round " << round;
    lowered += is_lower ? 1 : 0;
  }
  EXPECT_GE(lowered, 100);
}

TEST(Ejection, GivesTheSameAnswerTwice) {
  Random random(42);
  const PackingProblem problem =
      testing::random_problem(random, {.most_buffers = 80, .most_size = 1000, .moments = 60});
  Start first = start_of(problem);
  Start second = start_of(problem);
  for (Start* start : {&first, &second}) {
    Effort effort{.limit = 100'000};
    (void)lowers(*start, effort);
  }
  EXPECT_EQ(first.placements.offsets, second.placements.offsets);
}

}  // namespace
}  // namespace lowtide::allocate_internal
