// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/string_table.h"

#include <gtest/gtest.h>

#include "lowtide/base/id.h"

namespace lowtide {
namespace {

using TextId = Id<struct ThingTag>;
using Names = StringTable<TextId>;

TEST(StringTable, ReturnsEachString) {
  Names names;
  EXPECT_EQ(names.push_back("conv"), TextId(0));
  EXPECT_EQ(names.push_back(""), TextId(1));
  EXPECT_EQ(names.push_back(std::string_view("a\0b", 3)), TextId(2));
  names.shrink_to_fit();
  ASSERT_EQ(names.size(), 3U);
  EXPECT_EQ(names[TextId(0)], "conv");
  EXPECT_EQ(names[TextId(1)], "");
  EXPECT_EQ(names[TextId(2)], std::string_view("a\0b", 3));
}

TEST(StringTable, KnowsWhichIdsItHas) {
  const Names none;
  EXPECT_TRUE(none.empty());
  EXPECT_FALSE(none.contains(TextId(0)));
  const Names one = {"a"};
  EXPECT_FALSE(one.empty());
  EXPECT_TRUE(one.contains(TextId(0)));
  EXPECT_FALSE(one.contains(TextId(1)));
}

TEST(StringTable, ComparesStringsAndNotOnlyCharacters) {
  EXPECT_EQ((Names{"ab", "c"}), (Names{"ab", "c"}));
  EXPECT_NE((Names{"ab", "c"}), (Names{"a", "bc"}));
}

}  // namespace
}  // namespace lowtide
