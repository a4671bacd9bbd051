// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/quote.h"

#include <gtest/gtest.h>

#include "lowtide/base/random.h"
#include "lowtide/base/utf8.h"

namespace lowtide {
namespace {

std::string random_bytes(Random& random) {
  std::string bytes;
  const bool any_byte = random.chance(50);
  for (std::uint64_t count = random.below(12); count > 0; --count) {
    bytes += any_byte ? static_cast<char>(random.below(256)) : "a\\\"'\n\x7f\xc2\x85\xc3\xa9\xff"[random.below(11)];
  }
  return bytes;
}

TEST(Quote, PlainNamesStayAsTheyAre) {
  EXPECT_EQ(quoted("conv1.weight"), "'conv1.weight'");
  EXPECT_EQ(escaped("conv1.weight"), "\"conv1.weight\"");
  EXPECT_EQ(quoted(""), "''");
  EXPECT_EQ(escaped("Füße"), "\"Füße\"");
}

TEST(Quote, ControlBytesAndInvalidUtf8AreShownInHex) {
  EXPECT_EQ(quoted("a\nb"), "'a\\x0ab'");
  EXPECT_EQ(quoted("\x1b[31m"), "'\\x1b[31m'");
  EXPECT_EQ(lowtide::quoted(std::string("\0", 1)), "'\\x00'");
  EXPECT_EQ(quoted("\xff"), "'\\xff'");
  EXPECT_EQ(quoted("\xc2\x85"), "'\\xc2\\x85'");  // a control character of C1
  EXPECT_EQ(quoted("it's \\"), "'it\\'s \\\\'");
  EXPECT_EQ(escaped("say \"a\""), "\"say \\\"a\\\"\"");
}

TEST(Quote, InvisibleAndDirectionCharactersAreShownInHex) {
  EXPECT_EQ(quoted("a\u202Eb"), "'a\\xe2\\x80\\xaeb'");                     // right-to-left override
  EXPECT_EQ(quoted("\u2066a\u2069"), "'\\xe2\\x81\\xa6a\\xe2\\x81\\xa9'");  // isolates
  EXPECT_EQ(quoted("a\u200Bb"), "'a\\xe2\\x80\\x8bb'");                     // zero-width space
  EXPECT_EQ(quoted("a\u2028b"), "'a\\xe2\\x80\\xa8b'");                     // line separator
  EXPECT_EQ(quoted("\uFEFFid"), "'\\xef\\xbb\\xbfid'");                     // byte order mark
  EXPECT_EQ(quoted("\U000E0041"), "'\\xf3\\xa0\\x81\\x81'");                // tag
  EXPECT_EQ(quoted("שלום, 名前, émoji 🌊"), "'שלום, 名前, émoji 🌊'") << "letters of any script are shown";
}

TEST(Quote, LongNamesAreCutInTheMiddle) {
  EXPECT_EQ(quoted("0123456789", 10), "'0123456789'");
  EXPECT_EQ(quoted("0123456789x", 10), "'01234...6789x' (11 bytes)");
  EXPECT_LT(lowtide::quoted(std::string(50'000'000, '\n')).size(), 600U);
}

TEST(Quote, EscapesAreReadBack) {
  Random random(6);
  for (int run = 0; run < 20'000; ++run) {
    const std::string bytes = random_bytes(random);
    const std::string text = escaped(bytes);
    ASSERT_GE(text.size(), 2U);
    std::string again = "something else";
    ASSERT_TRUE(unescaped(std::string_view(text).substr(1, text.size() - 2), again)) << text;
    ASSERT_EQ(again, bytes);
  }
}

TEST(Quote, OutputIsOneSafeLineOfUtf8) {
  Random random(7);
  for (int run = 0; run < 20'000; ++run) {
    const std::string bytes = random_bytes(random);
    for (const std::string& text : {lowtide::quoted(bytes), lowtide::quoted(bytes, 4), escaped(bytes)}) {
      ASSERT_TRUE(is_utf8(text)) << text;
      for (char c : text) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) << text;
    }
  }
}

TEST(Quote, MalformedEscapesAreRefused) {
  std::string out;
  for (const char* text : {"\\", "\\x", "\\x1", "\\xg1", "\\x1g", "\\n", "\\u0041", "abc\\"})
    EXPECT_FALSE(unescaped(text, out)) << text;
  EXPECT_TRUE(unescaped("\\x4A\\x4a\\'", out));
  EXPECT_EQ(out, "JJ'");
}

TEST(ShownPath, IsQuotedOnlyIfItIsNotPlain) {
  EXPECT_EQ(shown_path("models/a b.onnx"), "models/a b.onnx");
  EXPECT_EQ(shown_path("a\x1b[2J.onnx"), "'a\\x1b[2J.onnx'");
  EXPECT_EQ(shown_path(""), "''");
}

}  // namespace
}  // namespace lowtide
