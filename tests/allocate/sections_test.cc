// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/sections.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

// The picture of the header: b begins at 1 and a ends at 2, so {a, b}; c begins at 3 and b ends at 4, so {b, c}.
TEST(Sections, AreTheMomentsWhereMostLive) {
  const PackingProblem problem = testing::problem_of({{0, 2, 5}, {1, 4, 7}, {3, 5, 9}});
  const auto sections = sectioned(compress(problem));
  ASSERT_TRUE(sections.has_value());
  EXPECT_EQ(sections->section_count, 2U);
  ASSERT_EQ(sections->buffers.size(), 3U);
  EXPECT_EQ(std::pair(sections->buffers[0].begin, sections->buffers[0].end), std::pair(0U, 1U));
  EXPECT_EQ(std::pair(sections->buffers[1].begin, sections->buffers[1].end), std::pair(0U, 2U));
  EXPECT_EQ(std::pair(sections->buffers[2].begin, sections->buffers[2].end), std::pair(1U, 2U));
}

// One begins when the other ends: two sections, since spans are half-open.
TEST(Sections, EndBeforeWhatBeginsAtTheSameTime) {
  const auto sections = sectioned(compress(testing::problem_of({{0, 3, 5}, {3, 6, 7}})));
  ASSERT_TRUE(sections.has_value());
  EXPECT_EQ(sections->section_count, 2U);
}

TEST(Sections, RoundSizesUpToOneAlignmentThatAllShare) {
  PackingProblem problem = testing::problem_of({{0, 2, 5}, {1, 4, 64}});
  for (PackingBuffer& buffer : problem.buffers) buffer.alignment = Bytes(64);
  const auto sections = sectioned(compress(problem));
  EXPECT_EQ(sections->unit, 64);
  EXPECT_EQ(sections->buffers[0].size, 64);
  EXPECT_EQ(sections->buffers[1].size, 64);
  EXPECT_EQ(sections->buffers[0].alignment, 1);

  problem.buffers[PackingId(0)].alignment = Bytes(8);
  const auto mixed = sectioned(compress(problem));
  EXPECT_EQ(mixed->unit, 1);
  EXPECT_EQ(mixed->buffers[0].size, 5);
  EXPECT_EQ(mixed->buffers[0].alignment, 8);
}

TEST(Sections, ThereAreNoneForGapsAndFixedBuffers) {
  PackingProblem problem = testing::problem_of({{0, 6, 5}});
  problem.buffers[PackingId(0)].gaps = {{2, 3}};
  EXPECT_FALSE(sectioned(compress(problem)).has_value());
  problem.buffers[PackingId(0)].gaps = {};
  problem.buffers[PackingId(0)].fixed_offset = Offset(0);
  EXPECT_FALSE(sectioned(compress(problem)).has_value());
}

// Two buffers share a section exactly if they live together.
TEST(Sections, KeepExactlyThePairsThatLiveTogether) {
  Random random(11);
  for (int round = 0; round < 500; ++round) {
    const PackingProblem problem = testing::random_problem(random, {.most_buffers = 20, .moments = 25});
    const auto sections = sectioned(compress(problem));
    ASSERT_TRUE(sections.has_value());
    for (const auto& a : sections->buffers) {
      ASSERT_LT(a.begin, a.end);
      ASSERT_LE(a.end, sections->section_count);
      for (const auto& b : sections->buffers) {
        const bool meets = a.begin < b.end && b.begin < a.end;
        ASSERT_EQ(meets, testing::live_together(problem.buffers[a.id], problem.buffers[b.id])) << "round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace lowtide::allocate_internal
