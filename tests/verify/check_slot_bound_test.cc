// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "lowtide/base/random.h"
#include "tests/verify/small_packings.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

//   a |=====| 8          a and b: 8, 4;   b and c: 6, 4
//   b   |=====| 4        so the largest slot has 8, the second 4
//   c       |===| 6
PackingProblem three_buffers() {
  return problem_of({{.lifespan = {0, 4}, .size = Bytes(8)},
                     {.lifespan = {2, 6}, .size = Bytes(4)},
                     {.lifespan = {4, 8}, .size = Bytes(6)}});
}

TEST(SlotBoundCheck, AddsUpTheLeastSizeOfEachSlot) {
  const SlotBoundCheck check = check_slot_bound(three_buffers(), Bytes(12));
  EXPECT_TRUE(check.is_confirmed);
  EXPECT_EQ(check.proven, Bytes(12));
  EXPECT_THAT(check.least, ElementsAre(Bytes(8), Bytes(4)));
}

TEST(SlotBoundCheck, RefusesOneByteMore) { EXPECT_FALSE(check_slot_bound(three_buffers(), Bytes(13)).is_confirmed); }

TEST(SlotBoundCheck, TwoSlotsMayBeProvenByTwoMoments) {
  // At 0: 9 and 1. At 1: 5 and 5. So 9 + 5.
  const PackingProblem problem = problem_of({{.lifespan = {0, 1}, .size = Bytes(9)},
                                             {.lifespan = {0, 1}, .size = Bytes(1)},
                                             {.lifespan = {1, 2}, .size = Bytes(5)},
                                             {.lifespan = {1, 2}, .size = Bytes(5)}});
  EXPECT_EQ(check_slot_bound(problem, Bytes(0)).proven, Bytes(14));
}

TEST(SlotBoundCheck, DoesNotCountBuffersInGapsOrWithoutBytes) {
  const PackingProblem problem = problem_of({{.lifespan = {0, 9}, .gaps = {{3, 6}}, .size = Bytes(7)},
                                             {.lifespan = {3, 6}, .size = Bytes(5)},
                                             {.lifespan = {0, 9}, .size = Bytes(0)}});
  EXPECT_THAT(check_slot_bound(problem, Bytes(7)).least, ElementsAre(Bytes(7)));
}

TEST(SlotBoundCheck, CountsTheLargestBufferEvenIfItNeverLives) {
  PackingProblem problem = three_buffers();
  problem.buffers.push_back({.lifespan = {0, 2}, .gaps = {{0, 2}}, .size = Bytes(20)});
  EXPECT_THAT(check_slot_bound(problem, Bytes(24)).least, ElementsAre(Bytes(20), Bytes(4)));
  problem.conflicts = {{PackingId(0), PackingId(1)}};
  EXPECT_THAT(check_slot_bound(problem, Bytes(20)).least, ElementsAre(Bytes(20)));
  EXPECT_THAT(check_slot_bound({}, Bytes(0)).least, IsEmpty());
  EXPECT_TRUE(check_slot_bound({}, Bytes(0)).is_confirmed);
}

TEST(SlotBoundCheck, StopsBeforeTheSumOverflows) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const PackingProblem problem =
      problem_of({{.lifespan = {0, 1}, .size = Bytes(most)}, {.lifespan = {0, 1}, .size = Bytes(1)}});
  EXPECT_EQ(check_slot_bound(problem, Bytes(0)).proven, Bytes(most));
}

// Computes the bound by definition: sorts the sizes that are live at each moment.
TEST(SlotBoundCheck, AgreesWithAllMomentsOneByOne) {
  Random random(7);
  for (int round = 0; round < 500; ++round) {
    PackingProblem problem;
    const std::int64_t count = random.between(0, 12);
    for (std::int64_t at = 0; at < count; ++at) {
      const std::int64_t begin = random.between(0, 9);
      const std::int64_t end = random.between(begin + 1, 10);
      PackingBuffer buffer{.lifespan = {begin, end}, .size = Bytes(random.between(0, 5))};
      if (end - begin > 2 && random.chance(50)) buffer.gaps = {{begin + 1, random.between(begin + 2, end)}};
      problem.buffers.push_back(buffer);
    }
    std::vector<std::int64_t> least(13, 0);
    for (std::int64_t time = 0; time < 10; ++time) {
      std::vector<std::int64_t> live;
      for (const PackingBuffer& buffer : problem.buffers) {
        const bool is_gone = !buffer.gaps.empty() && buffer.gaps[0].contains(time);
        if (buffer.lifespan.contains(time) && !is_gone) live.push_back(buffer.size.count());
      }
      std::sort(live.begin(), live.end(), std::greater<>());
      for (std::size_t rank = 0; rank < live.size(); ++rank) least[rank] = std::max(least[rank], live[rank]);
    }
    std::int64_t sum = 0;
    for (std::int64_t size : least) sum += size;
    ASSERT_EQ(check_slot_bound(problem, Bytes(sum)).proven, Bytes(sum)) << "round " << round;
  }
}

}  // namespace
}  // namespace lowtide::testing
