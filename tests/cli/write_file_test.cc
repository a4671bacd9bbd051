// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/write_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "lowtide/cli/read_file.h"

namespace lowtide::detail {
namespace {

class WriteFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "lowtide-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  static std::string content(const std::string& path) { return read_text_file(path, 1 << 20).value(); }

 private:
  std::filesystem::path folder_;
};

TEST_F(WriteFile, MakesAFileAndReplacesIt) {
  ASSERT_TRUE(write_file_atomically(path("a"), "one").ok());
  EXPECT_EQ(content(path("a")), "one");
  ASSERT_TRUE(write_file_atomically(path("a"), "").ok());
  EXPECT_EQ(content(path("a")), "");
  EXPECT_EQ(files(), 1U);
}

TEST_F(WriteFile, LeavesNothingWhereItFails) {
  std::filesystem::create_directory(path("folder"));
  EXPECT_FALSE(write_file_atomically(path("folder"), "one").ok());
  EXPECT_FALSE(write_file_atomically(path("missing/a"), "one").ok());
  EXPECT_EQ(files(), 1U);
}

TEST_F(WriteFile, ALinkToNowhereIsNotFollowedAndNotReplaced) {
  std::filesystem::create_symlink("nowhere", path("link"));
  EXPECT_FALSE(write_file_atomically(path("link"), "one").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(files(), 1U);
}

TEST_F(WriteFile, AnInputIsRecognisedUnderAnyName) {
  ASSERT_TRUE(write_file_atomically(path("model"), "one").ok());
  std::filesystem::create_hard_link(path("model"), path("hard"));
  EXPECT_FALSE(check_destination(path("hard"), {path("model")}).ok());
  EXPECT_TRUE(check_destination(path("other"), {path("model")}).ok());
  EXPECT_TRUE(check_destination("-", {path("model")}).ok());
}

TEST_F(WriteFile, ReadingIsBoundedAndTakesRegularFilesOnly) {
  ASSERT_TRUE(write_file_atomically(path("a"), "12345").ok());
  EXPECT_EQ(read_text_file(path("a"), 5).value(), "12345");
  EXPECT_EQ(read_text_file(path("a"), 4).error().code, ErrorCode::over_limit);
  EXPECT_EQ(read_text_file(path("missing"), 4).error().code, ErrorCode::io);
  EXPECT_EQ(read_text_file("/dev/zero", 4).error().code, ErrorCode::io);
  EXPECT_EQ(read_text_file(std::filesystem::temp_directory_path().string(), 4).error().code, ErrorCode::io);
}

}  // namespace
}  // namespace lowtide::detail
