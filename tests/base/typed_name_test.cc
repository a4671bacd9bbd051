// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/typed_name.h"

#include <gtest/gtest.h>

#include <string>

#include "lowtide/base/random.h"

namespace lowtide {
namespace {

TEST(TypedName, HasTheEscapesOfMessages) {
  EXPECT_EQ(typed_name("in=x"), "in=x");
  EXPECT_EQ(typed_name("a'b\"c\\d\ne"), R"(a\'b"c\\d\x0ae)");
  EXPECT_EQ(typed_name(std::string(500, 'n')), std::string(500, 'n'));
}

TEST(TypedName, MeansTheName) {
  EXPECT_TRUE(means_name("a'b", "a'b"));
  EXPECT_TRUE(means_name(R"(a\'b)", "a'b"));
  EXPECT_FALSE(means_name(R"(a\'b)", "ab"));
  EXPECT_FALSE(means_name(R"(a\q)", "aq"));  // no escape
  EXPECT_TRUE(means_name(R"(a\q)", R"(a\q)"));
  Random random(7);
  const std::string characters = "ab'\"\\=\n\x01\xFF x";
  for (int trial = 0; trial < 500; ++trial) {
    std::string name;
    for (std::uint64_t left = random.below(8); left > 0; --left) name += characters[random.below(characters.size())];
    EXPECT_TRUE(means_name(name, name));
    EXPECT_TRUE(means_name(typed_name(name), name)) << typed_name(name);
    EXPECT_FALSE(means_name(typed_name(name), name + "'"));
  }
}

}  // namespace
}  // namespace lowtide
