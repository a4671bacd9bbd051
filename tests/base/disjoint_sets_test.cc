// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/disjoint_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ItemId = Id<struct ItemTag>;

std::vector<std::uint32_t> least_of_each(DisjointSets<ItemId>& sets, std::size_t count) {
  std::vector<std::uint32_t> least;
  for (ItemId id : all_ids<ItemId>(count)) least.push_back(sets.find(id).value());
  return least;
}

TEST(DisjointSets, BeginWithOneSetPerId) {
  DisjointSets<ItemId> sets(3);
  EXPECT_THAT(least_of_each(sets, 3), ElementsAre(0, 1, 2));
}

TEST(DisjointSets, AreRepresentedByTheirSmallestId) {
  DisjointSets<ItemId> down(6);
  for (std::uint32_t id : {5, 3, 1}) down.join(ItemId(id), ItemId(id == 1 ? 3 : 5));  // {5}, {3, 5}, {1, 3, 5}
  EXPECT_THAT(least_of_each(down, 6), ElementsAre(0, 1, 2, 1, 4, 1));
  DisjointSets<ItemId> up(6);
  up.join(ItemId(1), ItemId(3));
  up.join(ItemId(5), ItemId(3));
  EXPECT_THAT(least_of_each(up, 6), ElementsAre(0, 1, 2, 1, 4, 1));
}

TEST(DisjointSets, JoinChains) {
  DisjointSets<ItemId> sets(1000);
  for (std::uint32_t id = 1; id < 1000; ++id) {
    if (id != 500) sets.join(ItemId(id), ItemId(id - 1));
  }
  EXPECT_EQ(sets.find(ItemId(499)), ItemId(0));
  EXPECT_EQ(sets.find(ItemId(999)), ItemId(500));
  sets.join(ItemId(999), ItemId(499));
  EXPECT_EQ(sets.find(ItemId(750)), ItemId(0));
}

}  // namespace
}  // namespace lowtide
