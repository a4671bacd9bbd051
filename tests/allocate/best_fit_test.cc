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

using ::testing::ElementsAre;
using testing::problem_of;

Placements sweep(const PackingProblem& problem, std::int64_t limit = std::numeric_limits<std::int64_t>::max()) {
  Effort effort{.limit = limit};
  return best_fit(compress(problem), effort);
}

std::string defect(const PackingProblem& problem, const Placements& placements) {
  IdVector<PackingId, Offset> offsets;
  for (std::int64_t offset : placements.offsets) offsets.push_back(Offset(offset));
  return testing::defect_of(problem, offsets);
}

std::vector<std::int64_t> listed(const Placements& placements) {
  return {placements.offsets.begin(), placements.offsets.end()};
}

TEST(FreeList, SplitsWhatIsTakenAndJoinsWhatIsReleased) {
  FreeList free(0);
  Effort effort;
  free.take({0, 4});
  free.take({4, 6});
  free.take({6, 9});
  free.release({0, 4});
  free.release({6, 9});                         // free: [0, 4), [6, 9), used: [4, 6), peak 9
  EXPECT_EQ(free.choose(3, 1, {}, effort), 6);  // the tightest
  EXPECT_EQ(free.choose(4, 1, {}, effort), 0);
  EXPECT_EQ(free.choose(5, 1, {}, effort), 6);  // in no stretch: from the last one into the open
  free.release({4, 6});                         // one stretch, [0, 9)
  EXPECT_EQ(free.choose(9, 1, {}, effort), 0);
}

TEST(FreeList, KeepsAwayFromWhatIsForbidden) {
  FreeList free(0);
  Effort effort;
  free.take({0, 20});
  free.release({0, 20});
  const std::vector<AddressRange> forbidden = {{2, 5}, {9, 12}};
  EXPECT_EQ(free.choose(2, 1, forbidden, effort), 0);
  EXPECT_EQ(free.choose(3, 1, forbidden, effort), 5);
  EXPECT_EQ(free.choose(5, 1, forbidden, effort), 12);
  EXPECT_EQ(free.choose(4, 4, forbidden, effort), 12);  // 5 rounds up to 8, and [8, 12) is forbidden
  EXPECT_EQ(free.choose(9, 1, forbidden, effort), 12);  // [12, 21): into the open
}

TEST(FreeList, NoticesBytesThatAreTakenTwice) {
  FreeList free(0);
  free.take({0, 10});
  EXPECT_THROW(free.take({5, 8}), InvariantViolation);
}

//     10 +----+
//        | b  |          b goes below c's later place; c begins when a has gone: the tightest stretch is a's
//      6 +----+----+
//        | a  | c  |
//      0 +----+----+
TEST(BestFit, FillsTheTightestStretch) {
  const PackingProblem problem = problem_of({{0, 2, 6}, {0, 4, 4}, {2, 4, 6}});
  const Placements placements = sweep(problem);
  EXPECT_THAT(listed(placements), ElementsAre(0, 6, 0));
  EXPECT_EQ(placements.height, 10);
}

TEST(BestFit, PlacesTheLargestFirstAmongThoseThatBeginTogether) {
  EXPECT_THAT(listed(sweep(problem_of({{0, 2, 3}, {0, 2, 9}, {0, 2, 5}}))), ElementsAre(14, 0, 9));
}

// The fixed one begins at 3 in [0, 10): a ends before and may have its bytes, b may not.
TEST(BestFit, LeavesRoomForFixedBuffersToCome) {
  PackingProblem problem = problem_of({{0, 3, 10}, {1, 4, 10}, {3, 6, 10}});
  problem.buffers[PackingId(2)].fixed_offset = Offset(0);
  const Placements placements = sweep(problem);
  EXPECT_EQ(defect(problem, placements), "");
  EXPECT_THAT(listed(placements), ElementsAre(0, 10, 0));
}

// a is active in [0, 2) and [6, 8). b lives in the pause; c outlives it.
TEST(BestFit, LendsTheBytesOfABufferThatPauses) {
  PackingProblem problem = problem_of({{0, 8, 10}, {3, 5, 10}, {4, 7, 6}});
  problem.buffers[PackingId(0)].gaps = {{2, 6}};
  const Placements placements = sweep(problem);
  EXPECT_EQ(defect(problem, placements), "");
  EXPECT_THAT(listed(placements), ElementsAre(0, 0, 10));
}

// Without effort for reservations: gaps do not count, and what moves lies above what is fixed.
TEST(BestFit, AnswersEvenWithoutEffort) {
  PackingProblem problem = problem_of({{0, 8, 10}, {3, 5, 10}, {0, 1, 7}});
  problem.buffers[PackingId(0)].gaps = {{2, 6}};
  problem.buffers[PackingId(2)].fixed_offset = Offset(5);
  const Placements placements = sweep(problem, 0);
  EXPECT_EQ(defect(problem, placements), "");
  EXPECT_THAT(listed(placements), ElementsAre(12, 22, 5));
}

TEST(BestFit, IsValidOnRandomProblemsInBothForms) {
  Random random(31);
  for (int round = 0; round < 3000; ++round) {
    const PackingProblem problem = testing::random_problem(random, {.most_buffers = 25,
                                                                    .most_size = 40,
                                                                    .moments = 20,
                                                                    .alignments = random.chance(50),
                                                                    .gaps = random.chance(50),
                                                                    .fixed = random.chance(50),
                                                                    .zero_sizes = true});
    ASSERT_EQ(defect(problem, sweep(problem)), "") << "round " << round;
    ASSERT_EQ(defect(problem, sweep(problem, 0)), "") << "round " << round;
  }
}

TEST(BestFit, LooksAtNearlyLinearlyManyStretchesOnNetworks) {
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
