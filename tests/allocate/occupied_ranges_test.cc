// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/occupied_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "lowtide/allocate/greedy/greedy_allocator.h"
#include "lowtide/allocate/greedy/orders.h"
#include "lowtide/allocate/problem/join_touching.h"
#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Effort any_effort() { return {.limit = std::numeric_limits<std::int64_t>::max()}; }

template <typename Stored>
class OccupiedRangesTest : public ::testing::Test {};
using StoredTypes = ::testing::Types<AddressRange, NarrowRange>;
TYPED_TEST_SUITE(OccupiedRangesTest, StoredTypes);

// The union of what is occupied during a span.
template <typename Stored>
std::vector<AddressRange> collected(const OccupiedRanges<Stored>& occupied, MomentSpan span) {
  std::vector<AddressRange> ranges;
  Effort effort = any_effort();
  occupied.collect(span, ranges, effort);
  join_touching(ranges);
  return ranges;
}

TYPED_TEST(OccupiedRangesTest, FindsTheBytesOfSpansThatOverlap) {
  // The moments are the times.
  const CompressedProblem problem = compress(testing::problem_of({{0, 2, 1}, {1, 4, 1}, {3, 5, 1}}));
  OccupiedRanges<TypeParam> occupied(problem);
  EXPECT_THAT(collected(occupied, {0, 5}), IsEmpty());
  occupied.insert({0, 2}, {0, 10});
  occupied.insert({3, 5}, {20, 30});
  EXPECT_THAT(collected(occupied, {0, 2}), ElementsAre(AddressRange{0, 10}));
  EXPECT_THAT(collected(occupied, {1, 4}), ElementsAre(AddressRange{0, 10}, AddressRange{20, 30}));
  EXPECT_THAT(collected(occupied, {3, 5}), ElementsAre(AddressRange{20, 30}));
  occupied.clear();
  EXPECT_THAT(collected(occupied, {0, 5}), IsEmpty());
}

static_assert(sizeof(NarrowRange) == 12);

TEST(NarrowRange, HoldsAddressesBelow2To48) {
  constexpr std::int64_t kLast = NarrowRange::kEnd - 1;
  for (const AddressRange range :
       {AddressRange{0, 1}, AddressRange{0x1'0000'0000, 0x2'ffff'ffff}, {kLast - 1, kLast}}) {
    EXPECT_EQ(AddressRange(NarrowRange(range)), range);
  }
}

// The sizes add up to 2^48 bytes, or to one more. Both problems have the same packing.
TEST(GreedyAllocator, AgreesOnBothSidesOfNarrowAddresses) {
  constexpr std::int64_t kHalf = NarrowRange::kEnd / 2;
  for (const std::int64_t last : {kHalf - 1, kHalf, kHalf + 1}) {
    const CompressedProblem problem = compress(testing::problem_of({{0, 2, kHalf}, {1, 3, last}, {2, 3, 1}}));
    GreedyAllocator allocator(problem);
    Effort effort = any_effort();
    const auto placements = allocate_in_order(allocator, problem.movable, FitRule::lowest, effort);
    EXPECT_EQ(placements->height, kHalf + last);
    EXPECT_EQ(placements->offsets, (IdVector<PackingId, std::int64_t>{0, kHalf, 0}));
  }
}

TYPED_TEST(OccupiedRangesTest, JoinsRangesThatTouch) {
  const CompressedProblem problem = compress(testing::problem_of({{0, 2, 1}, {1, 4, 1}}));
  OccupiedRanges<TypeParam> occupied(problem);
  for (std::int64_t at : {0, 20, 10, 40}) occupied.insert({0, 2}, {at, at + 10});
  std::vector<AddressRange> ranges;
  Effort effort = any_effort();
  occupied.collect({1, 4}, ranges, effort);
  EXPECT_THAT(ranges, ElementsAre(AddressRange{0, 30}, AddressRange{40, 50}));
  EXPECT_EQ(effort.spent, 3);  // the ranges and the call
}

TYPED_TEST(OccupiedRangesTest, AgreesWithAScanOfAllBuffers) {
  Random random(31);
  for (int round = 0; round < 100; ++round) {
    const CompressedProblem problem = compress(testing::network_like_problem(1 + random.below(300), round));
    OccupiedRanges<TypeParam> occupied(problem);
    std::vector<std::pair<MomentSpan, AddressRange>> inserted;
    for (PackingId id : problem.movable) {
      const MomentSpan span = problem.buffers[id].lifespan;
      std::vector<AddressRange> expected;
      for (const auto& [other, range] : inserted) {
        if (other.overlaps(span)) expected.push_back(range);
      }
      join_touching(expected);
      ASSERT_EQ(collected(occupied, span), expected) << "round " << round;
      const auto begin = static_cast<std::int64_t>(random.below(1000));
      inserted.emplace_back(span, AddressRange{begin, begin + random.between(1, 50)});
      occupied.insert(inserted.back().first, inserted.back().second);
    }
  }
}

// All n^2 / 2 pairs of these buffers are in conflict. They form one stack.
TEST(OccupiedRanges, NeedsNoEffortPerPairOnAStack) {
  constexpr std::int64_t kBuffers = 10'000;
  PackingProblem problem;
  for (std::int64_t at = 0; at < kBuffers; ++at) {
    problem.buffers.push_back({.lifespan = {at, 2 * kBuffers - at}, .gaps = {}, .size = Bytes(100)});
  }
  const CompressedProblem compressed = compress(problem);
  GreedyAllocator allocator(compressed);
  Effort effort = any_effort();
  const auto placements =
      allocate_in_order(allocator, greedy_by_breadth_last_end(compressed), FitRule::tightest, effort);
  EXPECT_EQ(placements->height, 100 * kBuffers);
  EXPECT_LE(effort.spent, 20 * kBuffers);
}

}  // namespace
}  // namespace lowtide::allocate_internal
