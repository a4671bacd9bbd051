// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/interval_problem.h"

#include <gtest/gtest.h>

#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

// The example of the header: b begins at 1 and a ends at 2, so {a, b}. c begins at 3 and b ends at 4, so {b, c}.
TEST(IntervalProblem, HasACliquePerFullestMoment) {
  const PackingProblem problem = testing::problem_of({{0, 2, 5}, {1, 4, 7}, {3, 5, 9}});
  const auto cliques = interval_problem(compress(problem));
  ASSERT_TRUE(cliques.has_value());
  EXPECT_EQ(cliques->clique_count, 2U);
  ASSERT_EQ(cliques->buffers.size(), 3U);
  EXPECT_EQ(cliques->buffers[SearchBuffer(0)].cliques, (CliqueSpan{CliqueId(0), CliqueId(1)}));
  EXPECT_EQ(cliques->buffers[SearchBuffer(1)].cliques, (CliqueSpan{CliqueId(0), CliqueId(2)}));
  EXPECT_EQ(cliques->buffers[SearchBuffer(2)].cliques, (CliqueSpan{CliqueId(1), CliqueId(2)}));
}

// One buffer begins when the other one ends. These are two cliques, because spans are half-open.
TEST(IntervalProblem, EndsBuffersBeforeOthersBeginAtTheSameTime) {
  const auto cliques = interval_problem(compress(testing::problem_of({{0, 3, 5}, {3, 6, 7}})));
  ASSERT_TRUE(cliques.has_value());
  EXPECT_EQ(cliques->clique_count, 2U);
}

TEST(IntervalProblem, RoundsSizesUpToACommonAlignment) {
  PackingProblem problem = testing::problem_of({{0, 2, 5}, {1, 4, 64}});
  for (PackingBuffer& buffer : problem.buffers) buffer.alignment = Bytes(64);
  const auto cliques = interval_problem(compress(problem));
  EXPECT_EQ(cliques->unit, 64);
  EXPECT_EQ(cliques->buffers[SearchBuffer(0)].size, 64);
  EXPECT_EQ(cliques->buffers[SearchBuffer(1)].size, 64);
  EXPECT_EQ(cliques->buffers[SearchBuffer(0)].alignment, 1);

  problem.buffers[PackingId(0)].alignment = Bytes(8);
  const auto mixed = interval_problem(compress(problem));
  EXPECT_EQ(mixed->unit, 1);
  EXPECT_EQ(mixed->buffers[SearchBuffer(0)].size, 5);
  EXPECT_EQ(mixed->buffers[SearchBuffer(0)].alignment, 8);
}

TEST(IntervalProblem, IsNotMadeForGapsAndFixedBuffers) {
  PackingProblem problem = testing::problem_of({{0, 6, 5}});
  problem.buffers[PackingId(0)].gaps = {{2, 3}};
  EXPECT_FALSE(interval_problem(compress(problem)).has_value());
  problem.buffers[PackingId(0)].gaps = {};
  problem.buffers[PackingId(0)].fixed_offset = Offset(0);
  EXPECT_FALSE(interval_problem(compress(problem)).has_value());
}

// Two buffers share a clique exactly if they are live together.
TEST(IntervalProblem, KeepsExactlyThePairsThatAreLiveTogether) {
  Random random(11);
  for (int round = 0; round < 500; ++round) {
    const PackingProblem problem = testing::random_problem(random, {.most_buffers = 20, .moments = 25});
    const auto cliques = interval_problem(compress(problem));
    ASSERT_TRUE(cliques.has_value());
    for (const auto& a : cliques->buffers) {
      ASSERT_FALSE(a.cliques.empty());
      ASSERT_LE(a.cliques.end.value(), cliques->clique_count);
      for (const auto& b : cliques->buffers) {
        ASSERT_EQ(a.cliques.overlaps(b.cliques), testing::live_together(problem.buffers[a.id], problem.buffers[b.id]))
            << "round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace lowtide::allocate_internal
