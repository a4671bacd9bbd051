// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/compressed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

static_assert(sizeof(CompressedProblem::Buffer) == 24);

constexpr PackingId kFirst(0);
constexpr PackingId kSecond(1);

// The times 0, 3, 5, 8 and 10 become the moments 0 to 4.
TEST(Compress, ListsTheActiveSpansOfBuffers) {
  PackingProblem problem = testing::problem_of({{0, 10, 1}, {0, 10, 1}, {3, 8, 1}});
  problem.buffers[kFirst].gaps = {{3, 5}, {8, 10}};
  problem.buffers[kSecond].gaps = {{0, 10}};
  const CompressedProblem compressed = compress(problem);
  EXPECT_THAT(compressed.spans_of(kFirst), ElementsAre(MomentSpan{0, 1}, MomentSpan{2, 3}));
  EXPECT_EQ(compressed.buffers[kFirst].lifespan, (MomentSpan{0, 3}));
  EXPECT_THAT(compressed.spans_of(kSecond), IsEmpty());
  EXPECT_THAT(compressed.spans_of(PackingId(2)), ElementsAre(MomentSpan{1, 3}));
  EXPECT_EQ(compressed.moments(), 5U);
}

TEST(Compress, HasNoSpansWithoutTime) {
  PackingProblem problem = testing::problem_of({{0, 10, 1}, {0, 10, 1}});
  problem.conflicts = {{kFirst, kSecond}};
  const CompressedProblem compressed = compress(problem);
  EXPECT_THAT(compressed.spans_of(kFirst), IsEmpty());
  EXPECT_FALSE(compressed.has_time());
}

// The second buffer has no bytes, so it is in no conflict. It keeps its offset nevertheless.
TEST(Compress, KeepsTheOffsetsOfFixedBuffers) {
  PackingProblem problem = testing::problem_of({{0, 1, 8}, {0, 1, 0}, {0, 1, 8}});
  problem.buffers[kFirst].fixed_offset = Offset(16);
  problem.buffers[kSecond].fixed_offset = Offset(32);
  const CompressedProblem compressed = compress(problem);
  EXPECT_THAT(compressed.fixed, ElementsAre(CompressedProblem::FixedBuffer{kFirst, 16}));
  EXPECT_THAT(compressed.movable, ElementsAre(PackingId(2)));
  EXPECT_EQ(compressed.least_offsets(), (IdVector<PackingId, std::int64_t>{16, 32, 0}));
}

TEST(Compress, SharesTheBuffersOfCopies) {
  CompressedProblem copy;
  {
    const CompressedProblem compressed = compress(testing::problem_of({{0, 1, 8}, {0, 1, 9}}));
    copy = compressed;
    EXPECT_EQ(copy.buffers.begin(), compressed.buffers.begin());
  }
  ASSERT_EQ(copy.buffers.size(), 2U);
  EXPECT_EQ(copy.buffers[kSecond].size, 9);
}

}  // namespace
}  // namespace lowtide::allocate_internal
