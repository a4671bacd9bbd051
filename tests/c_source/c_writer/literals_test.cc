// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_writer/literals.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "lowtide/base/random.h"

namespace lowtide::c_writer_internal {
namespace {

template <typename T>
std::string bytes_of(std::initializer_list<T> elements) {
  std::string bytes;
  for (const T element : elements) bytes.append(reinterpret_cast<const char*>(&element), sizeof(T));
  return bytes;
}

TEST(CLiterals, NumbersHaveTheirType) {
  EXPECT_EQ(literal(std::int32_t{-7}), "-7");
  EXPECT_EQ(literal(std::numeric_limits<std::int32_t>::min()), "(-2147483647 - 1)");
  EXPECT_EQ(literal(std::int64_t{-7}), "-INT64_C(7)");
  EXPECT_EQ(literal(std::numeric_limits<std::int64_t>::min()), "(-INT64_C(9223372036854775807) - 1)");
}

TEST(CLiterals, FloatsAreReadAsTheSameBits) {
  EXPECT_EQ(literal(1.0F), "1.0f");
  EXPECT_EQ(literal(-0.0F), "-0.0f");
  EXPECT_EQ(literal(1e30F), "1e+30f");
  EXPECT_EQ(literal(-std::numeric_limits<float>::infinity()), "-INFINITY");
  EXPECT_EQ(literal(std::numeric_limits<float>::quiet_NaN()), "NAN");
  Random random(1);
  for (int trial = 0; trial < 1000; ++trial) {
    const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(random.below(std::uint64_t{1} << 32)));
    if (number != number || number - number != 0) continue;
    const float read = std::strtof(literal(number).c_str(), nullptr);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(read), std::bit_cast<std::uint32_t>(number)) << literal(number);
  }
}

TEST(CLiterals, LinesOfElementsAreShort) {
  EXPECT_EQ(element_lines(CType::int8, bytes_of<std::int8_t>({1, -2, 127})), "  1, -2, 127,\n");
  EXPECT_EQ(element_lines(CType::int16, bytes_of<std::int16_t>({-300})), "  -300,\n");
  EXPECT_EQ(element_lines(CType::float32, bytes_of<float>({0.5F, 2})), "  0.5f, 2.0f,\n");
  EXPECT_EQ(element_lines(CType::int64, ""), "");
  const std::string many = element_lines(CType::uint8, std::string(1000, '\xC8'));
  std::size_t begin = 0;
  for (std::size_t end = many.find('\n'); end != std::string::npos; end = many.find('\n', begin)) {
    EXPECT_LE(end - begin, kMostColumns);
    begin = end + 1;
  }
  EXPECT_EQ(begin, many.size());
}

TEST(CLiterals, OnlySpecialFloatsNeedMath) {
  EXPECT_FALSE(needs_math(CType::float32, bytes_of<float>({1, 2})));
  EXPECT_TRUE(needs_math(CType::float32, bytes_of<float>({1, std::numeric_limits<float>::infinity()})));
  EXPECT_FALSE(needs_math(CType::int32, bytes_of<std::uint32_t>({0x7F800000U})));
}

}  // namespace
}  // namespace lowtide::c_writer_internal
