// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_writer/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lowtide::c_writer_internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(CNames, PartsHaveLettersDigitsAndUnderscores) {
  EXPECT_EQ(identifier_part("serving_default_Input:0"), "serving_default_input_0");
  EXPECT_EQ(identifier_part("__a--b__"), "a_b");
  EXPECT_EQ(identifier_part("\xC3\xA9\n"), "");
  EXPECT_EQ(identifier_part(std::string(1000, 'x')).size(), kMostNameCharacters);
}

TEST(CNames, PrefixesBeginWithALetter) {
  EXPECT_EQ(prefix_of("KWS"), "kws");
  EXPECT_EQ(prefix_of("8bit"), "model_8bit");
  EXPECT_EQ(prefix_of("__"), "model");
}

TEST(CNames, PartsOfAModelDiffer) {
  const std::vector<std::string> names = {"x", "X", "x:", "", "", "x_2"};
  EXPECT_THAT(identifier_parts(names, "y"), ElementsAre("x", "x_3", "x_4", "y", "y_2", "x_2"));
}

TEST(CNames, CommentsHaveNoEndInside) {
  for (const char* hostile : {"*/ int x; /*", "a **/", "/*/", "*//*"}) {
    const std::string text = "/* " + comment_text(hostile) + " */";
    EXPECT_EQ(text.find("*/"), text.size() - 2) << text;
    EXPECT_EQ(text.find("/*", 1), std::string::npos) << text;
  }
}

TEST(CNames, CommentsHaveOneLineAndNoTrigraph) {
  const std::string text = comment_text(
      "a\nb?"
      "?/c\xFF\\");
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  EXPECT_THAT(text, Not(HasSubstr("??")));
  EXPECT_THAT(text, HasSubstr("\\xff"));
  EXPECT_LT(comment_text(std::string(100000, 'a')).size(), 200U);
}

}  // namespace
}  // namespace lowtide::c_writer_internal
