// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/parse_number.h"

#include <gtest/gtest.h>

namespace lowtide {
namespace {

TEST(ParseNumber, ReadsDecimalDigits) {
  EXPECT_EQ(parse_number("0"), 0);
  EXPECT_EQ(parse_number("007"), 7);
  EXPECT_EQ(parse_number("9223372036854775807"), 9'223'372'036'854'775'807);
}

TEST(ParseNumber, RefusesAnythingElse) {
  for (const char* text : {"", "-", "-1", "-0", "+1", " 1", "1 ", "0x10", "1e3", "1.0", "9223372036854775808"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace lowtide
