// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/conflict_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "lowtide/base/random.h"

namespace lowtide::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Numbers = std::vector<std::vector<std::uint32_t>>;

PackingProblem related(std::size_t buffers, std::initializer_list<std::pair<std::uint32_t, std::uint32_t>> pairs) {
  PackingProblem problem;
  for (std::size_t at = 0; at < buffers; ++at) problem.buffers.push_back({.size = Bytes(1)});
  problem.conflicts.emplace();
  for (const auto& [a, b] : pairs) problem.conflicts->push_back({PackingId(a), PackingId(b)});
  return problem;
}

Numbers numbers(const ConflictColumns& columns) {
  Numbers out;
  for (const std::vector<PackingId>& column : columns.columns) {
    out.emplace_back();
    for (PackingId id : column) out.back().push_back(id.value());
  }
  return out;
}

TEST(ConflictColumns, HoldEveryPairAndWhoIsAlone) {
  const ConflictColumns columns = conflict_columns(related(4, {{1, 0}, {1, 2}, {0, 1}}), {});
  EXPECT_EQ(numbers(columns), (Numbers{{0, 1}, {1, 2}, {3}}));
  EXPECT_TRUE(columns.are_cliques);
  EXPECT_EQ(columns.witness, std::nullopt);
  EXPECT_THAT(conflict_columns(related(0, {}), {}).columns, IsEmpty());
}

TEST(ConflictColumns, JoinAllThatConflictWithEachOther) {
  const PackingProblem triangle = related(4, {{0, 1}, {1, 2}, {0, 2}, {2, 3}});
  EXPECT_EQ(numbers(conflict_columns(triangle, {})), (Numbers{{0, 1, 2}, {2, 3}}));
  EXPECT_EQ(conflict_columns(triangle, {PackingId(3), PackingId(2)}).witness, 1U);
}

TEST(ConflictColumns, JoinNoGroup) {
  PackingProblem problem = related(3, {{0, 1}, {2, 1}});
  problem.colocations = {{PackingId(0), PackingId(1), Bytes(0)}};
  EXPECT_EQ(numbers(conflict_columns(problem, {})), (Numbers{{0}, {1, 2}}));
}

//   0 - 1      columns {0 1} {1 2} {0 3} {2 3}: 0 is not in the second, 1 in the first two, ...
//   |   |
//   3 - 2
TEST(ConflictColumns, BecomeLifespansWithGaps) {
  const PackingProblem ring = related(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
  const PackingProblem drawn = with_columns_as_time(ring, conflict_columns(ring, {}));
  EXPECT_FALSE(drawn.conflicts);
  EXPECT_EQ(drawn.buffers[PackingId(0)].lifespan, (TimeSpan{0, 3}));
  EXPECT_THAT(drawn.buffers[PackingId(0)].gaps, ElementsAre(TimeSpan{1, 2}));
  EXPECT_EQ(drawn.buffers[PackingId(1)].lifespan, (TimeSpan{0, 2}));
  EXPECT_THAT(drawn.buffers[PackingId(1)].gaps, IsEmpty());
  EXPECT_THAT(drawn.buffers[PackingId(2)].gaps, ElementsAre(TimeSpan{2, 3}));
  EXPECT_EQ(drawn.buffers[PackingId(3)].lifespan, (TimeSpan{2, 4}));
}

// 700 on each side, all pairs between the sides: 490,000 cliques of two.
TEST(ConflictColumns, AreBuffersWhereCliquesAreTooMany) {
  PackingProblem problem = related(1400, {});
  for (std::uint32_t a = 0; a < 700; ++a) {
    for (std::uint32_t b = 700; b < 1400; ++b) problem.conflicts->push_back({PackingId(a), PackingId(b)});
  }
  const ConflictColumns columns = conflict_columns(problem, {PackingId(0), PackingId(700)});
  EXPECT_FALSE(columns.are_cliques);
  EXPECT_EQ(columns.columns.size(), 1400U);
  EXPECT_EQ(columns.witness, std::nullopt);
}

TEST(ConflictColumns, OfAnyRelationAreItsPairsAndNothingElse) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    const auto count = static_cast<std::uint32_t>(random.between(1, 14));
    PackingProblem problem = related(count, {});
    std::set<std::pair<std::uint32_t, std::uint32_t>> wanted;
    const auto density = static_cast<unsigned>(random.between(10, 90));
    for (std::uint32_t b = 0; b < count; ++b) {
      for (std::uint32_t a = 0; a < b; ++a) {
        if (!random.chance(density)) continue;
        wanted.emplace(a, b);
        problem.conflicts->push_back({PackingId(b), PackingId(a)});
      }
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> found;
    std::set<std::uint32_t> drawn;
    const Numbers columns = numbers(conflict_columns(problem, {}));
    for (const std::vector<std::uint32_t>& column : columns) {
      for (std::uint32_t b : column) {
        drawn.insert(b);
        for (std::uint32_t a : column) {
          if (a < b) found.emplace(a, b);
        }
      }
    }
    ASSERT_EQ(found, wanted) << "round " << round;
    ASSERT_EQ(drawn.size(), count) << "round " << round;
    ASSERT_EQ(std::set(columns.begin(), columns.end()).size(), columns.size()) << "round " << round;
  }
}

// Where pairs come from lives, and ids follow their begins, columns are moments: never more than buffers.
TEST(ConflictColumns, FollowTimeWhereThereWasOne) {
  Random random(6);
  for (int round = 0; round < 100; ++round) {
    PackingProblem problem = related(40, {});
    std::vector<std::int64_t> ends;
    for (std::uint32_t b = 0; b < 40; ++b) {
      ends.push_back(b + random.between(1, 8));
      for (std::uint32_t a = 0; a < b; ++a) {
        if (ends[a] > b) problem.conflicts->push_back({PackingId(a), PackingId(b)});
      }
    }
    const ConflictColumns columns = conflict_columns(problem, {});
    ASSERT_LE(columns.columns.size(), 40U) << "round " << round;
    for (const PackingBuffer& buffer : with_columns_as_time(problem, columns).buffers) {
      ASSERT_THAT(buffer.gaps, IsEmpty()) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace lowtide::detail
