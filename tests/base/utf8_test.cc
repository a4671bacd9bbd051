// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

#include "lowtide/base/hex.h"

namespace lowtide {
namespace {

TEST(Utf8, IsWellFormedOnlyInItsShortestForm) {
  for (const char* text : {"", "a", "é", "€", "😀", "\xf4\x8f\xbf\xbf"}) EXPECT_TRUE(is_utf8(text)) << text;
  for (const char* text : {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xe2\x82",
                           "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
    EXPECT_EQ(utf8_length(text), 0U) << text;
  }
  EXPECT_EQ(utf8_length(""), 0U);
}

TEST(Utf8, EveryCodePointIsReadBack) {
  for (std::uint32_t point = 0; point <= 0x10FFFF; ++point) {
    if (point >= 0xD800 && point < 0xE000) continue;  // surrogates
    std::string text;
    append_utf8(text, point);
    const std::size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    ASSERT_EQ(text.size(), length) << point;
    ASSERT_EQ(utf8_length(text + "\x80"), length) << point;
    ASSERT_EQ(code_point_of(text), point);
  }
}

TEST(Utf8, InvisibleCharactersAreNotLetters) {
  for (std::uint32_t point :
       {0x00U, 0x1BU, 0x7FU, 0x85U, 0xADU, 0x200BU, 0x202EU, 0x2066U, 0xFEFFU, 0xFFFFU, 0xE0041U}) {
    EXPECT_TRUE(is_invisible_or_format_character(point)) << point;
  }
  for (std::uint32_t point : {0x20U, 0x61U, 0xE9U, 0x5E9U, 0x540DU, 0x1F30AU}) {
    EXPECT_FALSE(is_invisible_or_format_character(point)) << point;
  }
}

TEST(Hex, EveryByteIsReadBack) {
  for (int byte = 0; byte < 256; ++byte) {
    std::string text;
    append_hex(text, static_cast<unsigned char>(byte));
    EXPECT_EQ(hex_byte(text), static_cast<char>(byte)) << text;
  }
  EXPECT_EQ(hex_byte("4A"), hex_byte("4a"));
  for (const char* text : {"", "4", "g0", "0g", "-1", " 1"}) EXPECT_EQ(hex_byte(text), std::nullopt) << text;
}

}  // namespace
}  // namespace lowtide
