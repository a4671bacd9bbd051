// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/flags.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "lowtide/base/id.h"

namespace lowtide {
namespace {

using ThingId = Id<struct ThingTag>;

TEST(Flags, HoldOnlyWhatWasSet) {
  Flags<ThingId> flags(3);
  EXPECT_EQ(flags.size(), 3U);
  flags.set(ThingId(1));
  EXPECT_FALSE(flags.test(ThingId(0)));
  EXPECT_TRUE(flags.test(ThingId(1)));
  EXPECT_FALSE(flags.test(ThingId(2)));
  flags.reset(ThingId(1));
  EXPECT_FALSE(flags.test(ThingId(1)));
}

TEST(Flags, InsertTellsWhetherAnIdIsNew) {
  Flags<ThingId> flags(2);
  EXPECT_TRUE(flags.insert(ThingId(0)));
  EXPECT_FALSE(flags.insert(ThingId(0)));
  EXPECT_TRUE(flags.insert(ThingId(1)));
}

TEST(Flags, CanAllBeSetInitially) {
  const Flags<std::uint32_t> flags(2, true);
  EXPECT_TRUE(flags.test(0));
  EXPECT_TRUE(flags.test(1));
}

TEST(Flags, SetAHalfOpenRange) {
  Flags<std::uint32_t> flags(4);
  flags.set_range(1, 3);
  flags.set_range(3, 3);
  EXPECT_FALSE(flags.test(0));
  EXPECT_TRUE(flags.test(1));
  EXPECT_TRUE(flags.test(2));
  EXPECT_FALSE(flags.test(3));
}

}  // namespace
}  // namespace lowtide
