// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/adapt/prepared_mark.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace lowtide {
namespace {

class PreparedMark : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  bool is_prepared(const std::string& text) const {
    std::ofstream(path_) << text;
    return is_prepared_file(path_);
  }

  const std::string path_ = ::testing::TempDir() + "prepared_mark_test";
};

TEST_F(PreparedMark, IsThatOfAnyVersion) {
  EXPECT_TRUE(is_prepared("lowtide-prepared 1 10 20 30"));
  EXPECT_TRUE(is_prepared("lowtide-prepared 999"));
  EXPECT_TRUE(is_prepared("lowtide-prepared "));
}

TEST_F(PreparedMark, IsNotThatOfOtherFiles) {
  EXPECT_FALSE(is_prepared(""));
  EXPECT_FALSE(is_prepared("lowtide-prepared"));
  EXPECT_FALSE(is_prepared(" lowtide-prepared 1"));
  EXPECT_FALSE(is_prepared("\x08\x07\x12 model"));
}

TEST_F(PreparedMark, IsNotThatOfAFileThatCannotBeRead) {
  EXPECT_FALSE(is_prepared_file(path_ + ".absent"));
  EXPECT_FALSE(is_prepared_file(::testing::TempDir()));
}

TEST_F(PreparedMark, SaysWhetherThereAreSeveralPlans) {
  for (const auto& [text, is_range] : {std::pair("lowtide-prepared 2 3 10", true),
                                       {"lowtide-prepared 1 10", false},
                                       {"lowtide-prepared 20 3", false},
                                       {"lowtide-prepared 2", false}}) {
    EXPECT_TRUE(is_prepared(text)) << text;
    EXPECT_EQ(is_prepared_range(path_), is_range) << text;
  }
}

}  // namespace
}  // namespace lowtide
