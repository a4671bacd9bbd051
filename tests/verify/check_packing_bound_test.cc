// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "lowtide/base/random.h"
#include "tests/verify/small_packings.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

//   a |=====|      10        time 2: a, b   10 + 20 = 30
//   b   |=====|    20        time 4: b, c   20 + 5 = 25
//   c       |===|   5
PackingProblem three() {
  return problem_of({{.lifespan = {0, 4}, .size = Bytes(10)},
                     {.lifespan = {2, 6}, .size = Bytes(20)},
                     {.lifespan = {4, 8}, .size = Bytes(5)}});
}

TEST(PackingBoundCheck, ConfirmsTheLoadAndLowerClaims) {
  for (std::int64_t claimed : {0, 29, 30}) {
    EXPECT_TRUE(check_packing_bound(three(), Bytes(claimed), 2).is_confirmed) << claimed;
  }
  EXPECT_TRUE(check_packing_bound(three(), Bytes(25), 4).is_confirmed);
}

TEST(PackingBoundCheck, RefusesOneByteMoreAndTheWrongMoment) {
  EXPECT_FALSE(check_packing_bound(three(), Bytes(31), 2).is_confirmed);
  EXPECT_FALSE(check_packing_bound(three(), Bytes(30), 1).is_confirmed);  // a alone
  EXPECT_FALSE(check_packing_bound(three(), Bytes(30), 4).is_confirmed);  // a has ended, because spans are half-open
  EXPECT_FALSE(check_packing_bound(three(), Bytes(1), 8).is_confirmed);   // no buffer is left
  EXPECT_FALSE(check_packing_bound(three(), Bytes(1), -1).is_confirmed);
}

TEST(PackingBoundCheck, ListsTheLiveBuffersLargestFirst) {
  const PackingBoundCheck check = check_packing_bound(three(), Bytes(30), 2);
  EXPECT_THAT(check.live, ElementsAre(PackingId(1), PackingId(0)));
  EXPECT_EQ(check.load, Bytes(30));
  EXPECT_EQ(check.proven, Bytes(30));
  EXPECT_EQ(check.alone, std::nullopt);
}

TEST(PackingBoundCheck, DoesNotCountABufferInItsGap) {
  const PackingProblem problem =
      problem_of({{.lifespan = {0, 9}, .gaps = {{3, 5}}, .size = Bytes(10)}, {.lifespan = {0, 9}, .size = Bytes(7)}});
  EXPECT_EQ(check_packing_bound(problem, Bytes(0), 2).load, Bytes(17));
  EXPECT_EQ(check_packing_bound(problem, Bytes(0), 3).load, Bytes(7));
  EXPECT_EQ(check_packing_bound(problem, Bytes(0), 5).load, Bytes(17));
  // The buffer in its gap still has to be somewhere: 10 bytes alone are more than the other 7.
  const PackingBoundCheck in_gap = check_packing_bound(problem, Bytes(11), 4);
  EXPECT_EQ(in_gap.proven, Bytes(10));
  EXPECT_EQ(in_gap.alone, PackingId(0));
  EXPECT_FALSE(in_gap.is_confirmed);
}

TEST(PackingBoundCheck, RoundsUpAllExceptTheTopmost) {
  // Two buffers of 10 bytes at multiples of 64 need 64 + 10.
  const PackingProblem two = problem_of({{.lifespan = {0, 1}, .size = Bytes(10), .alignment = Bytes(64)},
                                         {.lifespan = {0, 1}, .size = Bytes(10), .alignment = Bytes(64)}});
  EXPECT_TRUE(check_packing_bound(two, Bytes(74), 0).is_confirmed);
  EXPECT_FALSE(check_packing_bound(two, Bytes(75), 0).is_confirmed);
  // 65 rounds to 128 with 63 bytes of padding, and 10 to 64 with 54. The one that saves most is on top, so 64 + 65.
  const PackingProblem uneven = problem_of({{.lifespan = {0, 1}, .size = Bytes(65), .alignment = Bytes(64)},
                                            {.lifespan = {0, 1}, .size = Bytes(10), .alignment = Bytes(64)}});
  EXPECT_EQ(check_packing_bound(uneven, Bytes(0), 0).proven, Bytes(129));
}

TEST(PackingBoundCheck, LetsSmallBuffersLieInThePaddingOfLargeOnes) {
  // The two at multiples of 64 need 64 + 10 = 74. All three without padding need 10 + 10 + 50 = 70. The 50 fit into the
  // 54 bytes between the two.
  PackingProblem problem = problem_of({{.lifespan = {0, 1}, .size = Bytes(10), .alignment = Bytes(64)},
                                       {.lifespan = {0, 1}, .size = Bytes(10), .alignment = Bytes(64)},
                                       {.lifespan = {0, 1}, .size = Bytes(50)}});
  EXPECT_EQ(check_packing_bound(problem, Bytes(0), 0).proven, Bytes(74));
  problem.buffers[PackingId(2)].size = Bytes(60);  // 80 in all, so the sum without padding is larger
  EXPECT_EQ(check_packing_bound(problem, Bytes(0), 0).proven, Bytes(80));
}

TEST(PackingBoundCheck, CountsTheEndOfAFixedBuffer) {
  const PackingProblem problem = problem_of(
      {{.lifespan = {0, 4}, .size = Bytes(8)}, {.lifespan = {2, 6}, .size = Bytes(4), .fixed_offset = Offset(100)}});
  const PackingBoundCheck check = check_packing_bound(problem, Bytes(104), 2);
  EXPECT_TRUE(check.is_confirmed);
  EXPECT_EQ(check.load, Bytes(12));
  EXPECT_EQ(check.alone, PackingId(1));
  EXPECT_FALSE(check_packing_bound(problem, Bytes(105), 2).is_confirmed);
  EXPECT_FALSE(check_packing_bound(problem, Bytes(104), 1).is_confirmed);  // not there yet
}

TEST(PackingBoundCheck, CountsNoBytesOfEmptyBuffers) {
  const PackingProblem problem =
      problem_of({{.lifespan = {0, 4}, .size = Bytes(0)},
                  {.lifespan = {0, 4}, .size = Bytes(0), .alignment = Bytes(64), .fixed_offset = Offset(64)}});
  const PackingBoundCheck check = check_packing_bound(problem, Bytes(64), 0);
  EXPECT_THAT(check.live, IsEmpty());
  EXPECT_TRUE(check.is_confirmed);  // the second one ends at 64 nevertheless
}

TEST(PackingBoundCheck, DoesNotTrustSumsThatOverflow) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const PackingProblem problem = problem_of({{.lifespan = {0, 1}, .size = Bytes(most - 1), .alignment = Bytes(64)},
                                             {.lifespan = {0, 1}, .size = Bytes(1), .fixed_offset = Offset(most)}});
  const PackingBoundCheck check = check_packing_bound(problem, Bytes(most), 0);
  EXPECT_EQ(check.proven,
            Bytes(most));  // (most - 1) + 1; the rounded sum and the end of the second overflow
}

TEST(PackingBoundCheck, CountsBytesOfAGroupOnce) {
  // x has [0, 20) of its group, y [10, 25): 25 bytes, and 5 of z.
  PackingProblem problem = problem_of({{.lifespan = {0, 4}, .size = Bytes(20)},
                                       {.lifespan = {0, 4}, .size = Bytes(15)},
                                       {.lifespan = {0, 4}, .size = Bytes(5)}});
  problem.colocations.push_back({PackingId(0), PackingId(1), Bytes(10)});
  EXPECT_TRUE(check_packing_bound(problem, Bytes(30), 0).is_confirmed);
  EXPECT_FALSE(check_packing_bound(problem, Bytes(31), 0).is_confirmed);
  // [0, 20) and [40, 55) have 35 bytes, and z may lie between them. But y ends at 55 or above wherever they are.
  problem.colocations[0].delta = Bytes(40);
  const PackingBoundCheck apart = check_packing_bound(problem, Bytes(56), 0);
  EXPECT_FALSE(apart.is_confirmed);
  EXPECT_EQ(apart.load, Bytes(40));
  EXPECT_EQ(apart.proven, Bytes(55));
}

TEST(PackingBoundCheck, RoundsUpOneBufferPerGroup) {
  // A view of the same 10 bytes at multiples of 64 needs no more bytes. With the third buffer, 64 + 10.
  PackingProblem problem;
  for (int at = 0; at < 3; ++at) {
    problem.buffers.push_back({.lifespan = {0, 4}, .size = Bytes(10), .alignment = Bytes(64)});
  }
  EXPECT_EQ(check_packing_bound(problem, Bytes(0), 0).proven, Bytes(138));
  problem.colocations.push_back({PackingId(0), PackingId(1), Bytes(0)});
  EXPECT_EQ(check_packing_bound(problem, Bytes(0), 0).proven, Bytes(74));
}

TEST(PackingBoundCheck, RaisesAGroupToItsAlignment) {
  // y is 10 above x and at a multiple of 64. So y is at 64 and x at 54, and x ends at 74, although they are never live
  // together.
  PackingProblem problem = problem_of(
      {{.lifespan = {0, 2}, .size = Bytes(20)}, {.lifespan = {4, 6}, .size = Bytes(5), .alignment = Bytes(64)}});
  problem.colocations.push_back({PackingId(0), PackingId(1), Bytes(10)});
  const PackingBoundCheck check = check_packing_bound(problem, Bytes(74), 0);
  EXPECT_EQ(check.proven, Bytes(74));  // x: 54 + 20
  EXPECT_EQ(check.alone, PackingId(0));
  // If x is fixed, y is fixed too.
  problem.buffers[PackingId(0)].fixed_offset = Offset(118);
  problem.buffers[PackingId(1)].size = Bytes(40);
  EXPECT_EQ(check_packing_bound(problem, Bytes(0), 0).proven, Bytes(168));  // 118 + 10 + 40
}

TEST(PackingBoundCheck, KnowsNoLoadIfARelationReplacesTime) {
  PackingProblem problem = three();
  problem.conflicts.emplace();
  EXPECT_TRUE(check_packing_bound(problem, Bytes(20), 0).is_confirmed);  // b alone
  EXPECT_FALSE(check_packing_bound(problem, Bytes(21), 2).is_confirmed);
}

// a, b and c conflict pairwise, and c with d.
PackingProblem related() {
  PackingProblem problem;
  for (std::int64_t size : {3, 4, 5, 6}) problem.buffers.push_back({.lifespan = {0, 1}, .size = Bytes(size)});
  problem.conflicts = {{PackingId(0), PackingId(1)},
                       {PackingId(2), PackingId(1)},  // in either order
                       {PackingId(0), PackingId(2)},
                       {PackingId(2), PackingId(3)}};
  return problem;
}

TEST(PackingBoundCheck, AddsUpBuffersInConflict) {
  const std::vector<PackingId> abc = {PackingId(0), PackingId(1), PackingId(2)};
  const PackingBoundCheck check = check_packing_bound(related(), Bytes(12), abc);
  EXPECT_TRUE(check.is_confirmed);
  EXPECT_EQ(check.load, Bytes(12));
  EXPECT_EQ(check.proven, Bytes(12));
  EXPECT_THAT(check.live, ElementsAre(PackingId(2), PackingId(1), PackingId(0)));
  EXPECT_FALSE(check_packing_bound(related(), Bytes(13), abc).is_confirmed);
  EXPECT_TRUE(check_packing_bound(related(), Bytes(11), {PackingId(3), PackingId(2)}).is_confirmed);
}

TEST(PackingBoundCheck, BuffersThatMayShareProveNothing) {
  // All four would need 18. In the order d, c, b, a, the buffers d and b are the first two that may share bytes.
  const PackingBoundCheck check =
      check_packing_bound(related(), Bytes(1), {PackingId(0), PackingId(1), PackingId(2), PackingId(3)});
  EXPECT_FALSE(check.is_confirmed);
  EXPECT_EQ(check.free_to_share, (PackingPair{PackingId(1), PackingId(3)}));
  EXPECT_EQ(check.proven, Bytes(0));
  EXPECT_FALSE(check_packing_bound(related(), Bytes(1), {PackingId(0), PackingId(0)}).is_confirmed);  // twice
  EXPECT_FALSE(check_packing_bound(related(), Bytes(1), {PackingId(4)}).is_confirmed);                // not there
}

// a and b live together at 2, b and c at 4, a and c never.
//   a |=====|      10
//   b   |=====|    20
//   c       |===|   5
TEST(PackingBoundCheck, LifespansProveConflicts) {
  const PackingId a(0);
  const PackingId b(1);
  const PackingId c(2);
  PackingProblem problem = three();
  EXPECT_EQ(check_packing_bound(problem, Bytes(35), {a, b, c}).free_to_share, (PackingPair{a, c}));
  EXPECT_TRUE(check_packing_bound(problem, Bytes(30), {a, b}).is_confirmed);  // 10 + 20
  EXPECT_FALSE(check_packing_bound(problem, Bytes(31), {a, b}).is_confirmed);
  problem.buffers[b].gaps = {{4, 6}};  // b is in its gap while c is live
  EXPECT_EQ(check_packing_bound(problem, Bytes(25), {b, c}).free_to_share, (PackingPair{b, c}));
  problem.buffers[b].gaps = {{3, 5}};                                         // at 5 it is live again
  EXPECT_TRUE(check_packing_bound(problem, Bytes(25), {b, c}).is_confirmed);  // 20 + 5
}

// Each buffer except the topmost takes 64, as for the buffers of one moment.
TEST(PackingBoundCheck, BuffersInConflictArePaddedToTheirAlignment) {
  PackingProblem problem = related();
  for (PackingId id : {PackingId(0), PackingId(1), PackingId(2)}) problem.buffers[id].alignment = Bytes(64);
  // 3 x 64, less the 61 that the one of 3 bytes saves at the top.
  EXPECT_EQ(check_packing_bound(problem, Bytes(0), {PackingId(0), PackingId(1), PackingId(2)}).proven, Bytes(131));
}

TEST(PackingBoundCheck, MembersOfOneGroupAreNotInConflict) {
  PackingProblem problem = related();
  problem.colocations = {{PackingId(0), PackingId(1), Bytes(0)}};
  EXPECT_EQ(check_packing_bound(problem, Bytes(1), {PackingId(0), PackingId(1)}).free_to_share,
            (PackingPair{PackingId(0), PackingId(1)}));
}

TEST(PackingBoundCheck, ChecksAnAnswerByItsWitness) {
  Packing packing{.bound = Bytes(12)};
  packing.witness_buffers = {PackingId(0), PackingId(1), PackingId(2)};
  EXPECT_TRUE(check_packing_bound(related(), packing).is_confirmed);
  packing.witness_buffers.pop_back();
  EXPECT_FALSE(check_packing_bound(related(), packing).is_confirmed);  // 7
  packing.witness_buffers.clear();
  EXPECT_FALSE(check_packing_bound(related(), packing).is_confirmed);  // d alone
  Packing timed{.bound = Bytes(30), .witness_time = 2};
  EXPECT_TRUE(check_packing_bound(three(), timed).is_confirmed);
  timed.witness_time = 4;
  EXPECT_FALSE(check_packing_bound(three(), timed).is_confirmed);
}

// The least height of movable buffers that all live at one time, by trying every order from below.
std::int64_t least_height(const PackingProblem& problem) {
  std::vector<std::uint32_t> order(problem.buffers.size());
  std::iota(order.begin(), order.end(), 0U);
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  do {
    Offset top(0);
    for (std::uint32_t at : order) {
      const PackingBuffer& buffer = problem.buffers[PackingId(at)];
      top = round_up(top, buffer.alignment) + buffer.size;
    }
    best = std::min(best, top.position());
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(PackingBoundCheck, NeverConfirmsMoreThanTheOptimum) {
  int met = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    PackingProblem problem;
    const std::size_t count = 1 + random.below(5);
    for (std::size_t at = 0; at < count; ++at) {
      problem.buffers.push_back({.lifespan = {0, 1},
                                 .size = Bytes(static_cast<std::int64_t>(1 + random.below(200))),
                                 .alignment = Bytes(std::int64_t{1} << random.below(7))});
    }
    const std::int64_t least = least_height(problem);
    const PackingBoundCheck check = check_packing_bound(problem, Bytes(least + 1), 0);
    EXPECT_FALSE(check.is_confirmed) << "seed " << seed;
    EXPECT_LE(check.proven, Bytes(least)) << "seed " << seed;
    EXPECT_GE(check.proven, check.load) << "seed " << seed;
    met += check.proven == Bytes(least) ? 1 : 0;
  }
  EXPECT_GT(met, 100);  // so the test is not vacuous
}

}  // namespace
}  // namespace lowtide::testing
