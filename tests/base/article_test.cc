// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/article.h"

#include <gtest/gtest.h>

namespace lowtide {
namespace {

TEST(Article, FollowsTheFirstLetter) {
  EXPECT_EQ(with_article("input"), "an input");
  EXPECT_EQ(with_article("output"), "an output");
  EXPECT_EQ(with_article("constant"), "a constant");
  EXPECT_EQ(with_article("state"), "a state");
  EXPECT_EQ(with_article(""), "a ");
}

TEST(WithCount, ChoosesSingularOrPlural) {
  EXPECT_EQ(with_count(0, "input"), "0 inputs");
  EXPECT_EQ(with_count(1, "input"), "1 input");
  EXPECT_EQ(with_count(2, "input"), "2 inputs");
}

}  // namespace
}  // namespace lowtide
