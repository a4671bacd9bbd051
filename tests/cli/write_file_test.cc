// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output/write_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lowtide/cli/output/descriptor.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/cli/output/temporary_file.h"

namespace lowtide::cli_internal {
namespace {

constexpr std::array<std::string_view, 1> kOne = {"one"};

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

TEST_F(WriteFile, WritesPiecesOneAfterAnother) {
  const std::array<std::string_view, 4> pieces = {"one", "", " and ", "two"};
  ASSERT_TRUE(write_file_atomically(path("a"), pieces).ok());
  EXPECT_EQ(content(path("a")), "one and two");
}

TEST_F(WriteFile, KeepsTheOldFileIfACheckOfTheNewOneFails) {
  ASSERT_TRUE(write_file_atomically(path("a"), "old").ok());
  const Result<void> written = write_file_atomically(path("a"), kOne, [&]() -> Result<void> {
    EXPECT_EQ(content(path("a")), "old");
    return Error{ErrorCode::mismatch, "changed", ""};
  });
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().message, "changed");
  EXPECT_EQ(content(path("a")), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(WriteFile, MakesAFileAndReplacesIt) {
  ASSERT_TRUE(write_file_atomically(path("a"), "one").ok());
  EXPECT_EQ(content(path("a")), "one");
  ASSERT_TRUE(write_file_atomically(path("a"), "").ok());
  EXPECT_EQ(content(path("a")), "");
  EXPECT_EQ(files(), 1U);
}

TEST_F(WriteFile, LeavesNothingIfItFails) {
  std::filesystem::create_directory(path("folder"));
  EXPECT_FALSE(write_file_atomically(path("folder"), "one").ok());
  EXPECT_FALSE(write_file_atomically(path("missing/a"), "one").ok());
  EXPECT_EQ(files(), 1U);
}

TEST_F(WriteFile, ALinkIsNotFollowedAndNotReplaced) {
  ASSERT_TRUE(write_file_atomically(path("real"), "old").ok());
  for (const char* const target : {"nowhere", "real", "link"}) {
    std::filesystem::create_symlink(target, path("link"));
    const Result<void> written = write_file_atomically(path("link"), "one");
    ASSERT_FALSE(written.ok()) << target;
    EXPECT_NE(written.error().message.find("symbolic link to '" + std::string(target) + "'"), std::string::npos)
        << written.error().message;
    EXPECT_FALSE(check_destination(path("link")).ok()) << target;
    EXPECT_EQ(std::filesystem::read_symlink(path("link")), target);
    std::filesystem::remove(path("link"));
  }
  EXPECT_EQ(content(path("real")), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(WriteFile, ALinkInTheFolderIsFollowed) {
  std::filesystem::create_directory(path("folder"));
  std::filesystem::create_directory_symlink("folder", path("link"));
  ASSERT_TRUE(check_destination(path("link/a")).ok());
  ASSERT_TRUE(write_file_atomically(path("link/a"), "one").ok());
  EXPECT_EQ(content(path("folder/a")), "one");
}

// A file under the name that the process id alone would give is in use, as by a writer in another container.
TEST_F(WriteFile, WritersWithOneProcessIdTakeDifferentNames) {
  const std::string other = path(".a." + std::to_string(getpid()) + ".lowtide-tmp");
  std::ofstream(other) << "half";
  const Descriptor living(open(other.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(flock(living.number(), LOCK_EX | LOCK_NB), 0);
  EXPECT_TRUE(write_file_atomically(path("a"), "one").ok());
  EXPECT_EQ(content(other), "half");
}

TEST_F(WriteFile, LeftoversAreThoseOfTheSameNameThatAreNotLocked) {
  const std::string digits = "0123456789abcdef";
  const std::vector<std::string> others = {".a.json." + digits,  // of a.json
                                           ".a.json.7",           ".a.7",         ".a." + digits + "0",
                                           ".a.0123456789ABCDEF", ".b." + digits, ".a." + digits + "x"};
  for (const std::string& other : others) std::ofstream(path(other + ".lowtide-tmp")) << "half";
  const std::string living = path(".a.ffffffffffffffff.lowtide-tmp");
  std::ofstream(living) << "half";
  const Descriptor lock(open(living.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(flock(lock.number(), LOCK_EX | LOCK_NB), 0);
  std::ofstream(path(".a." + digits + ".lowtide-tmp")) << "half";
  std::ofstream(path(".a.0000000000000000.lowtide-tmp"));  // killed before it wrote anything
  ASSERT_TRUE(write_file_atomically(path("a"), "one").ok());
  EXPECT_EQ(files(), others.size() + 2) << "the others, the living one, and a";
  EXPECT_EQ(content(living), "half");
}

// A sweeper that runs all the time also removes files between creation and lock. Every writer must still succeed.
TEST_F(WriteFile, ASweeperNeverMakesAWriterFail) {
  const Descriptor folder(open(path("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::atomic<bool> is_done = false;
  std::thread sweeper([&] {
    while (!is_done) remove_abandoned_files(folder.number(), "a");
  });
  std::vector<std::thread> writers;
  std::atomic<int> failures = 0;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&] {
      for (int turn = 0; turn < 200; ++turn) {
        TemporaryFile file(folder.number(), "a");
        if (!file.create() || !file.write(kOne) || !file.rename_to_destination()) ++failures;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  is_done = true;
  sweeper.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(content(path("a")), "one");
  EXPECT_EQ(files(), 1U);
}

TEST_F(WriteFile, ManyWritersAtOnceAllSucceed) {
  std::atomic<int> failures = 0;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) failures += write_file_atomically(path("a"), "one").ok() ? 0 : 1;
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(files(), 1U);
}

TEST_F(WriteFile, AFileIsRecognizedUnderAnyName) {
  ASSERT_TRUE(write_file_atomically(path("model"), "one").ok());
  std::filesystem::create_hard_link(path("model"), path("hard"));
  EXPECT_TRUE(is_same_file(path("hard"), path("model")));
  EXPECT_TRUE(is_same_file(path("new"), path("folder/../new")));
  EXPECT_FALSE(is_same_file(path("other"), path("model")));
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
}  // namespace lowtide::cli_internal
