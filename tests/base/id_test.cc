// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/id.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <unordered_set>

namespace lowtide {
namespace {

using AppleId = Id<struct AppleTag>;
using PearId = Id<struct PearTag>;

template <typename Vector, typename Key>
concept IndexableBy = requires(Vector vector, Key key) {
  vector[key];
};
static_assert(IndexableBy<IdVector<AppleId, int>, AppleId> && !IndexableBy<IdVector<AppleId, int>, PearId> &&
                  !IndexableBy<IdVector<AppleId, int>, std::size_t>,
              "only its own id indexes a table");
static_assert(!std::is_convertible_v<std::uint32_t, AppleId> && !std::is_convertible_v<AppleId, std::uint32_t> &&
              !std::is_convertible_v<AppleId, PearId>);

TEST(Id, OrdersAndHashesByValue) {
  EXPECT_LT(AppleId(1), AppleId(2));
  EXPECT_EQ(AppleId(), AppleId(0));
  EXPECT_EQ(AppleId(7).index(), 7U);
  EXPECT_EQ((std::unordered_set<AppleId>{AppleId(1), AppleId(1), AppleId(2)}.size()), 2U);
}

TEST(IdVector, GivesIdsInOrder) {
  IdVector<AppleId, std::string> names;
  EXPECT_TRUE(names.empty());
  EXPECT_EQ(names.push_back("a"), AppleId(0));
  EXPECT_EQ(names.push_back("b"), AppleId(1));
  EXPECT_EQ(names[AppleId(1)], "b");
  EXPECT_TRUE(names.contains(AppleId(1)));
  EXPECT_FALSE(names.contains(AppleId(2)));
  EXPECT_EQ((IdVector<AppleId, int>(3, 7)[AppleId(2)]), 7);
}

TEST(IdRange, CountsFromZero) {
  std::string seen;
  for (AppleId id : all_ids<AppleId>(3)) seen += std::to_string(id.value());
  EXPECT_EQ(seen, "012");
  for ([[maybe_unused]] AppleId id : all_ids<AppleId>(0)) FAIL() << "there are no ids below 0";
}

}  // namespace
}  // namespace lowtide
