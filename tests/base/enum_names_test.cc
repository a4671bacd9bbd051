// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/enum_names.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace lowtide {
namespace {

enum class Tide : std::uint8_t { low, high, neap };

}  // namespace

template <>
inline constexpr auto kEnumNames<Tide> =
    enum_names<Tide>({{Tide::low, "low"}, {Tide::high, "high"}, {Tide::neap, "n"}});

namespace {

TEST(EnumNames, AreReadBack) {
  EXPECT_EQ(to_string(Tide::high), "high");
  for (Tide tide : {Tide::low, Tide::high, Tide::neap}) EXPECT_EQ(from_string<Tide>(to_string(tide)), tide);
}

TEST(EnumNames, OtherTextsAreRefused) {
  for (const char* text : {"", "Low", "lo", "low ", "neap"}) EXPECT_EQ(from_string<Tide>(text), std::nullopt) << text;
}

TEST(EnumNames, NumbersWithoutNameAreDetected) {
  EXPECT_TRUE(is_named(Tide::neap));
  EXPECT_FALSE(is_named(static_cast<Tide>(3)));
  EXPECT_THROW((void)to_string(static_cast<Tide>(3)), InvariantViolation);
}

TEST(EnumNames, ListAllChoices) { EXPECT_EQ(choices_of<Tide>(), "low, high or n"); }

TEST(Listed, JoinsNames) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(listed(Names{}), "");
  EXPECT_EQ(listed(Names{"a"}, "or"), "a");
  EXPECT_EQ(listed(Names{"a", "b"}, "or"), "a or b");
  EXPECT_EQ(listed(Names{"a", "b", "c"}), "a, b, c");
}

}  // namespace
}  // namespace lowtide
