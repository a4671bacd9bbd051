// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/allocate/groups/group_forms.h"
#include "lowtide/allocate/problem/validate.h"
#include "lowtide/base/limits.h"
#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

using ::testing::HasSubstr;

constexpr PackingId kX(0);
constexpr PackingId kY(1);
constexpr PackingId kZ(2);
constexpr PackingId kW(3);

void expect_refused(const PackingProblem& problem, ErrorCode code, const std::string& words) {
  const Result<void> outcome = validate_packing_problem(problem);
  ASSERT_FALSE(outcome.ok()) << words;
  EXPECT_EQ(outcome.error().code, code) << words;
  EXPECT_THAT(outcome.error().describe(), HasSubstr(words));
}

PackingProblem four() { return testing::problem_of({{0, 4, 8}, {1, 2, 8}, {3, 9, 4}, {0, 9, 4}}); }

// y = x + 8 and z = x + 2, so y = z + 6. The shifts are 0, 8 and 2. w is a group of its own.
TEST(Groups, FollowColocationsFromBufferToBuffer) {
  PackingProblem problem = four();
  problem.colocations = {{kX, kY, Bytes(8)}, {kX, kZ, Bytes(2)}, {kZ, kY, Bytes(6)}};
  const BufferGroups groups = *group_buffers(problem);
  ASSERT_EQ(groups.groups.size(), 2U);
  EXPECT_EQ(groups.group[kY], groups.group[kX]);
  EXPECT_EQ(groups.shift[kX], 0);
  EXPECT_EQ(groups.shift[kY], 8);
  EXPECT_EQ(groups.shift[kZ], 2);
  EXPECT_EQ(groups.groups[GroupId(0)].size, 16);
  EXPECT_EQ(groups.groups[GroupId(1)].count, 1U);
}

// The first buffer is not the lowest: x is 3 bytes above y, so y has shift 0.
TEST(Groups, CountFromTheLowestMember) {
  PackingProblem problem = four();
  problem.colocations = {{kY, kX, Bytes(3)}};
  const BufferGroups groups = *group_buffers(problem);
  EXPECT_EQ(groups.shift[kX], 3);
  EXPECT_EQ(groups.shift[kY], 0);
}

// x is at a multiple of 4, y 2 bytes above it at a multiple of 2, z 4 bytes above x at a multiple of 8. So the base is
// 4, modulo 8.
TEST(Groups, FindTheBasesThatSuitAllAlignments) {
  PackingProblem problem = four();
  problem.buffers[kX].alignment = Bytes(4);
  problem.buffers[kY].alignment = Bytes(2);
  problem.buffers[kZ].alignment = Bytes(8);
  problem.colocations = {{kX, kY, Bytes(2)}, {kX, kZ, Bytes(4)}};
  const BufferGroups groups = *group_buffers(problem);
  EXPECT_EQ(groups.groups[GroupId(0)].alignment, 8);
  EXPECT_EQ(groups.groups[GroupId(0)].residue, 4);
  problem.colocations[0].delta = Bytes(3);
  expect_refused(
      problem, ErrorCode::invalid,
      "buffer 1: colocations put it -1 bytes from buffer 2, and no offsets suit both of their alignments, 2 and 8");
}

TEST(Groups, RefuseColocationsThatDisagree) {
  PackingProblem problem = four();
  problem.colocations = {{kX, kY, Bytes(8)}, {kX, kZ, Bytes(2)}, {kZ, kY, Bytes(5)}};
  expect_refused(problem, ErrorCode::invalid, "colocations put it both");
  problem.colocations = {{kX, kY, Bytes(-1)}};
  expect_refused(problem, ErrorCode::invalid,
                 "buffer 1: a colocation puts it -1 bytes above buffer 0; name the lower buffer first");
  problem.colocations = {{kX, kX, Bytes(0)}};
  expect_refused(problem, ErrorCode::invalid, "buffer 0: a colocation names it twice");
  problem.colocations = {{kX, PackingId(9), Bytes(0)}};
  expect_refused(problem, ErrorCode::invalid, "a colocation names buffer 9, but the number of buffers is 4");
  problem.colocations = {{kX, kY, Bytes(limits::kMaxTotalBytes)}};
  expect_refused(problem, ErrorCode::over_limit, "the group that colocations make of it is larger than kMaxTotalBytes");
}

TEST(Groups, RefuseFixedOffsetsThatDisagree) {
  PackingProblem problem = four();
  problem.colocations = {{kX, kY, Bytes(8)}};
  problem.buffers[kX].fixed_offset = Offset(16);
  problem.buffers[kY].fixed_offset = Offset(25);
  expect_refused(problem, ErrorCode::invalid,
                 "buffer 1: it is fixed at 25, but colocations put it at 24, because buffer 0 is fixed at 16");
  problem.buffers[kY].fixed_offset = Offset(24);
  EXPECT_TRUE(validate_packing_problem(problem).ok());
  problem.buffers[kX].fixed_offset.reset();
  problem.buffers[kY].fixed_offset = Offset(4);
  expect_refused(problem, ErrorCode::invalid,
                 "buffer 0: colocations put it at -4, which is below 0, because buffer 1 is fixed at 4");
  problem.buffers[kX].alignment = Bytes(8);
  problem.buffers[kY].fixed_offset = Offset(12);
  expect_refused(problem, ErrorCode::invalid,
                 "buffer 0: colocations put it at 4, which is not a multiple of its alignment 8");
}

// x fixes y at [8, 16), where w is while y is live. y may share bytes with z, which is in the same group.
TEST(Groups, FindCollisionsOfBuffersFixedByTheirGroup) {
  PackingProblem problem = four();
  problem.colocations = {{kX, kY, Bytes(8)}, {kY, kZ, Bytes(4)}};
  problem.buffers[kX].fixed_offset = Offset(0);
  problem.buffers[kX].size = Bytes(9);
  problem.buffers[kW].fixed_offset = Offset(15);
  expect_refused(problem, ErrorCode::invalid,
                 "buffer 1: fixed at bytes [8, 16), it collides with buffer 3, fixed at bytes [15, 19), at time 1");
  problem.buffers[kW].fixed_offset = Offset(16);
  EXPECT_TRUE(validate_packing_problem(problem).ok());
}

TEST(Groups, RefuseFixedBuffersThatCollideInARelation) {
  PackingProblem problem = four();
  problem.buffers[kX].fixed_offset = Offset(0);
  problem.buffers[kY].fixed_offset = Offset(4);
  problem.conflicts.emplace();
  EXPECT_TRUE(validate_packing_problem(problem).ok());  // they are live together, but the relation replaces time
  problem.conflicts = {{kX, kY}};
  expect_refused(problem, ErrorCode::invalid,
                 "buffer 1: fixed at bytes [4, 12), it collides with buffer 0, fixed at bytes [0, 8)");
}

// In place: y is written over x. One block of 8 bytes that is live in [0, 4) and [4, 6).
TEST(Groups, BecomeOneBufferIfAllMembersAreEqual) {
  PackingProblem problem = testing::problem_of({{0, 4, 8}, {4, 6, 8}, {2, 5, 4}});
  problem.colocations = {{kX, kY, Bytes(0)}};
  const GroupBlocks blocks = blocks_of(problem, *group_buffers(problem));
  EXPECT_TRUE(blocks.is_exact);
  ASSERT_EQ(blocks.problem.buffers.size(), 2U);
  EXPECT_EQ(blocks.problem.buffers[PackingId(0)].lifespan, (TimeSpan{0, 6}));
  EXPECT_TRUE(blocks.problem.buffers[PackingId(0)].gaps.empty());
}

// A view: y is the upper half of x, and its last read is not after that of x. So it changes nothing. A view that lives
// longer does.
TEST(Groups, LoseNothingThroughAViewThatDiesEarlier) {
  PackingProblem problem = testing::problem_of({{0, 4, 8}, {2, 4, 4}});
  problem.colocations = {{kX, kY, Bytes(4)}};
  EXPECT_TRUE(blocks_of(problem, *group_buffers(problem)).is_exact);
  problem.buffers[kY].lifespan.end = 5;
  const BufferGroups groups = *group_buffers(problem);
  EXPECT_FALSE(blocks_of(problem, groups).is_exact);
  // Pieces: [0, 4) is live as long as x, [4, 8) as long as one of them.
  const PackingProblem pieces = loosened(problem, groups);
  ASSERT_EQ(pieces.buffers.size(), 2U);
  EXPECT_EQ(pieces.buffers[PackingId(0)].lifespan, (TimeSpan{0, 4}));
  EXPECT_EQ(pieces.buffers[PackingId(1)].lifespan, (TimeSpan{0, 5}));
  EXPECT_EQ(pieces.buffers[PackingId(1)].size, Bytes(4));
}

// A packing of the blocks is a packing of the members, which is a packing of the pieces.
TEST(Groups, NeedMoreThanPiecesAndLessThanBlocks) {
  Random random(61);
  int exact = 0;
  int above = 0;
  for (int round = 0; round < 1000; ++round) {
    const PackingProblem problem = testing::random_valid_problem(random, {.most_buffers = 5,
                                                                          .most_size = 4,
                                                                          .moments = 5,
                                                                          .gaps = true,
                                                                          .fixed = true,
                                                                          .relation = random.chance(30),
                                                                          .colocations = true});
    const BufferGroups groups = *group_buffers(problem);
    const GroupBlocks blocks = blocks_of(problem, groups);
    const std::int64_t least = testing::least_height_of_all_offsets(problem);
    const std::int64_t of_blocks = testing::least_height(blocks.problem);
    ASSERT_LE(least, of_blocks) << "round " << round;
    ASSERT_TRUE(!blocks.is_exact || least == of_blocks) << "round " << round;
    ASSERT_GE(least, testing::least_height(loosened(problem, groups))) << "round " << round;
    exact += blocks.is_exact ? 1 : 0;
    above += least < of_blocks ? 1 : 0;
  }
  EXPECT_GT(exact, 300);
  EXPECT_GT(above, 20);
}

}  // namespace
}  // namespace lowtide::allocate_internal
