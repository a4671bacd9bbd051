// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/dtype.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace lowtide {
namespace {

TEST(DType, NamesAreReadBackAndDiffer) {
  std::set<std::string_view> names;
  for (int at = 0; at <= static_cast<int>(DType::string); ++at) {
    const auto dtype = static_cast<DType>(at);
    EXPECT_EQ(from_string<DType>(to_string(dtype)), dtype);
    EXPECT_TRUE(names.insert(to_string(dtype)).second) << to_string(dtype);
  }
  EXPECT_EQ(names.size(), 26U);
  EXPECT_EQ(from_string<DType>("float"), std::nullopt);
  EXPECT_EQ(from_string<DType>(""), std::nullopt);
}

TEST(DType, NamesStateTheBits) {
  for (int at = 0; at < static_cast<int>(DType::string); ++at) {
    const auto dtype = static_cast<DType>(at);
    if (dtype == DType::boolean) continue;
    std::string digits(to_string(dtype));
    digits.erase(0, digits.find_first_of("0123456789"));
    EXPECT_EQ(bits_of(dtype), std::stoi(digits)) << to_string(dtype);  // "f8e4m3fn": 8
  }
  EXPECT_EQ(bits_of(DType::boolean), 8);
  EXPECT_EQ(bits_of(DType::string), std::nullopt);
}

}  // namespace
}  // namespace lowtide
