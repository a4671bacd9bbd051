// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/enum_set.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace lowtide {
namespace {

enum class Wind : std::uint8_t { north, east, south, last = 63 };
using Winds = EnumSet<Wind>;

TEST(EnumSet, HasWhatWasInsertedAndNotErased) {
  Winds winds = {Wind::north, Wind::last};
  EXPECT_TRUE(winds.has(Wind::north));
  EXPECT_TRUE(winds.has(Wind::last));
  EXPECT_FALSE(winds.has(Wind::east));
  winds.insert(Wind::east);
  winds.erase(Wind::north);
  winds.erase(Wind::south);  // was not in it
  EXPECT_EQ(winds, (Winds{Wind::last, Wind::east}));
  EXPECT_TRUE(Winds().empty());
  EXPECT_FALSE(winds.empty());
}

TEST(EnumSet, CombinesSets) {
  constexpr Winds kCold = {Wind::north, Wind::east};
  constexpr Winds kWet = {Wind::east, Wind::south};
  static_assert((kCold & kWet) == Winds{Wind::east});
  static_assert((kCold - kWet) == Winds{Wind::north});
  static_assert((kCold | kWet) == Winds{Wind::north, Wind::east, Wind::south});
  static_assert((kCold - kCold).empty());
}

TEST(EnumSet, ThrowsForAValueThatIsTooLarge) {
  Winds winds;
  EXPECT_THROW(winds.insert(static_cast<Wind>(64)), InvariantViolation);
  EXPECT_THROW((void)winds.has(static_cast<Wind>(200)), InvariantViolation);
}

}  // namespace
}  // namespace lowtide
