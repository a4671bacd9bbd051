// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/text/page_text.h"

#include <gtest/gtest.h>

#include <string>

namespace lowtide {
namespace {

TEST(PageText, MakesEveryCharacterVisible) {
  EXPECT_EQ(report_internal::name_in_page("conv1/out:0 \\ <b>"), "conv1/out:0 \\ <b>");
  EXPECT_EQ(report_internal::name_in_page("\x1b[2J\n\x7f"), "\\x1b[2J\\x0a\\x7f");
  EXPECT_EQ(report_internal::name_in_page(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(report_internal::name_in_page("\xFFz\xC0\xAF\xED\xA0\x80\xE2\x80"),
            "\\xffz\\xc0\\xaf\\xed\\xa0\\x80\\xe2\\x80");
  EXPECT_EQ(report_internal::name_in_page("\xE2\x80\xAE.\xE2\x80\xA8.\xEF\xBB\xBF.\xC2\x85"),
            "\\u{202e}.\\u{2028}.\\u{feff}.\\u{85}");
  EXPECT_EQ(report_internal::name_in_page("\xEF\xBF\xBE\xF3\xA0\x81\x81"), "\\u{fffe}\\u{e0041}");
  EXPECT_EQ(report_internal::name_in_page("\xC3\xA9 \xE6\xBD\xAE \xF0\x9F\x8C\x8A"),
            "\xC3\xA9 \xE6\xBD\xAE \xF0\x9F\x8C\x8A");
}

TEST(PageText, LeavesOutTheMiddleOfALongName) {
  const std::string shown = report_internal::name_in_page(std::string(5000, 'a') + std::string(5000, 'b'));
  EXPECT_EQ(shown, std::string(2048, 'a') + "..." + std::string(2048, 'b'));
  EXPECT_EQ(report_internal::name_in_page(std::string(4096, 'a')).size(), 4096U);
}

TEST(PageText, EscapesTextBetweenTags) {
  EXPECT_EQ(report_internal::html_escaped("<a b='c' d=\"&\">"), "&lt;a b=&#39;c&#39; d=&quot;&amp;&quot;&gt;");
}

}  // namespace
}  // namespace lowtide
