// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/compact_vector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "lowtide/base/random.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

static_assert(sizeof(CompactVector<std::int64_t>) == 8);

TEST(CompactVector, IsEmptyAtFirst) {
  const CompactVector<int> none;
  EXPECT_TRUE(none.empty());
  EXPECT_THAT(none, IsEmpty());
  EXPECT_EQ(none.capacity(), 0U);
  EXPECT_EQ(none, CompactVector<int>({}));
}

TEST(CompactVector, CopiesAndMovesItems) {
  CompactVector<int> items = {4, 5, 6};
  CompactVector<int> copy = items;
  copy[0] = 7;
  EXPECT_THAT(items, ElementsAre(4, 5, 6));
  EXPECT_THAT(copy, ElementsAre(7, 5, 6));
  EXPECT_NE(copy, items);
  const CompactVector<int> moved = std::move(items);
  EXPECT_THAT(moved, ElementsAre(4, 5, 6));
  copy = moved;
  EXPECT_EQ(copy, moved);
  copy = {};
  EXPECT_THAT(copy, IsEmpty());
}

TEST(CompactVector, AgreesWithAVector) {
  Random random(1);
  CompactVector<std::int64_t> items;
  std::vector<std::int64_t> expected;
  for (int round = 0; round < 3000; ++round) {
    const auto at = static_cast<std::ptrdiff_t>(random.below(expected.size() + 1));
    // Grows for a while, and then shrinks.
    if (random.chance(round % 1000 < 600 ? 90 : 20)) {
      expected.insert(expected.begin() + at, round);
      items.insert(items.begin() + at, round);
    } else {
      const auto last =
          at + static_cast<std::ptrdiff_t>(random.below(expected.size() + 1 - static_cast<std::size_t>(at)));
      expected.erase(expected.begin() + at, expected.begin() + last);
      items.erase(items.begin() + at, items.begin() + last);
    }
    ASSERT_THAT(items, ElementsAreArray(expected));
    ASSERT_LE(items.capacity(), 2 * items.size() + 1);
  }
}

TEST(CompactVector, ClearsAndFreesItems) {
  CompactVector<int> items = {1, 2};
  items.clear();
  EXPECT_THAT(items, IsEmpty());
  EXPECT_EQ(items.capacity(), 0U);
  items.push_back(3);
  EXPECT_THAT(items, ElementsAre(3));
}

}  // namespace
}  // namespace lowtide
