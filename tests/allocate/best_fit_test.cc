// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/best_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "lowtide/allocate/greedy/free_list.h"
#include "lowtide/base/check.h"
#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

using testing::defect_of;
using ::testing::ElementsAre;
using testing::problem_of;

Placements sweep(const PackingProblem& problem, std::int64_t limit = std::numeric_limits<std::int64_t>::max()) {
  Effort effort{.limit = limit};
  return best_fit(compress(problem), effort);
}

std::vector<std::int64_t> listed(const Placements& placements) {
  return {placements.offsets.begin(), placements.offsets.end()};
}

TEST(FreeList, SplitsRangesThatAreTakenAndJoinsFreeOnes) {
  FreeList free(0);
  Effort effort;
  free.take({0, 4});
  free.take({4, 6});
  free.take({6, 9});
  free.release({0, 4});
  free.release({6, 9});                              // free: [0, 4), [6, 9), used: [4, 6), peak 9
  EXPECT_EQ(free.find_offset(3, 1, {}, effort), 6);  // the tightest
  EXPECT_EQ(free.find_offset(4, 1, {}, effort), 0);
  EXPECT_EQ(free.find_offset(5, 1, {}, effort), 6);  // no free range holds them; they end above the peak
  free.release({4, 6});                              // one free range, [0, 9)
  EXPECT_EQ(free.find_offset(9, 1, {}, effort), 0);
}

TEST(FreeList, AvoidsForbiddenRanges) {
  FreeList free(0);
  Effort effort;
  free.take({0, 20});
  free.release({0, 20});
  const std::vector<AddressRange> forbidden = {{2, 5}, {9, 12}};
  EXPECT_EQ(free.find_offset(2, 1, forbidden, effort), 0);
  EXPECT_EQ(free.find_offset(3, 1, forbidden, effort), 5);
  EXPECT_EQ(free.find_offset(5, 1, forbidden, effort), 12);
  EXPECT_EQ(free.find_offset(4, 4, forbidden, effort), 12);  // 5 rounds up to 8, and [8, 12) is forbidden
  EXPECT_EQ(free.find_offset(9, 1, forbidden, effort), 12);  // [12, 21) ends above the peak
}

TEST(FreeList, ReportsBytesThatAreTakenTwice) {
  FreeList free(0);
  free.take({0, 10});
  EXPECT_THROW(free.take({5, 8}), InvariantViolation);
}

//     10 +----+
//        | b  |          c begins when a has ended. The bytes of a are the tightest free range for c.
//      6 +----+----+
//        | a  | c  |
//      0 +----+----+
TEST(BestFit, FillsTheTightestFreeRange) {
  const PackingProblem problem = problem_of({{0, 2, 6}, {0, 4, 4}, {2, 4, 6}});
  const Placements placements = sweep(problem);
  EXPECT_THAT(listed(placements), ElementsAre(0, 6, 0));
  EXPECT_EQ(placements.height, 10);
}

TEST(BestFit, AssignsTheLargestOfEqualBeginsFirst) {
  EXPECT_THAT(listed(sweep(problem_of({{0, 2, 3}, {0, 2, 9}, {0, 2, 5}}))), ElementsAre(14, 0, 9));
}

// The fixed buffer is live from 3 on, in bytes [0, 10). a ends before and may use its bytes, b may not.
TEST(BestFit, LeavesSpaceForLaterFixedBuffers) {
  PackingProblem problem = problem_of({{0, 3, 10}, {1, 4, 10}, {3, 6, 10}});
  problem.buffers[PackingId(2)].fixed_offset = Offset(0);
  const Placements placements = sweep(problem);
  EXPECT_EQ(defect_of(problem, placements), "");
  EXPECT_THAT(listed(placements), ElementsAre(0, 10, 0));
}

// a is active in [0, 2) and [6, 8). b is live during the gap, c also after it.
TEST(BestFit, LendsTheBytesOfABufferDuringItsGap) {
  PackingProblem problem = problem_of({{0, 8, 10}, {3, 5, 10}, {4, 7, 6}});
  problem.buffers[PackingId(0)].gaps = {{2, 6}};
  const Placements placements = sweep(problem);
  EXPECT_EQ(defect_of(problem, placements), "");
  EXPECT_THAT(listed(placements), ElementsAre(0, 0, 10));
}

// Without effort for reservations, gaps are ignored, and movable buffers are above the fixed ones.
TEST(BestFit, AnswersEvenWithoutEffort) {
  PackingProblem problem = problem_of({{0, 8, 10}, {3, 5, 10}, {0, 1, 7}});
  problem.buffers[PackingId(0)].gaps = {{2, 6}};
  problem.buffers[PackingId(2)].fixed_offset = Offset(5);
  const Placements placements = sweep(problem, 0);
  EXPECT_EQ(defect_of(problem, placements), "");
  EXPECT_THAT(listed(placements), ElementsAre(12, 22, 5));
}

TEST(BestFit, IsValidOnRandomProblemsInBothSweeps) {
  Random random(31);
  for (int round = 0; round < 3000; ++round) {
    const PackingProblem problem = testing::random_problem(random, {.most_buffers = 25,
                                                                    .most_size = 40,
                                                                    .moments = 20,
                                                                    .alignments = random.chance(50),
                                                                    .gaps = random.chance(50),
                                                                    .fixed = random.chance(50),
                                                                    .zero_sizes = true});
    ASSERT_EQ(defect_of(problem, sweep(problem)), "") << "round " << round;
    ASSERT_EQ(defect_of(problem, sweep(problem, 0)), "") << "round " << round;
  }
}

TEST(BestFit, TakesNearlyLinearEffortOnNetworks) {
  const auto work = [](std::size_t count) {
    Effort effort{.limit = std::numeric_limits<std::int64_t>::max()};
    (void)best_fit(compress(testing::network_like_problem(count, 7)), effort);
    return effort.spent;
  };
  EXPECT_LE(work(100'000), 15 * work(10'000));
  EXPECT_LE(work(100'000), 100'000 * 8);
}

}  // namespace
}  // namespace lowtide::allocate_internal
