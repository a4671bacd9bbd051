// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "lowtide/base/limits.h"
#include "lowtide/import/import.h"
#include "lowtide/import/sha256.h"

namespace lowtide::import_internal {
namespace {

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "lowtide-import-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  // Both functions refuse the file before they look at its format.
  static void expect_refused(const std::string& path, ErrorCode code, const std::string& word) {
    const Result<ImportedModel> model = import_model(path);
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(to_string(model.error().code), to_string(code));
    EXPECT_NE(model.error().describe().find(word), std::string::npos) << model.error().describe();
    const Result<PackingProblem> problem = import_packing(path);
    ASSERT_FALSE(problem.ok());
    EXPECT_EQ(to_string(problem.error().code), to_string(code));
  }

 private:
  std::string folder_;
};

TEST_F(Files, AreReadWhole) {
  const std::string content("a\0b\n", 4);
  const Result<FileBytes> bytes = read_file(write("x", content), 4, "limit");
  ASSERT_TRUE(bytes.ok()) << bytes.error().describe();
  EXPECT_EQ(bytes->view(), content);
}

TEST_F(Files, AboveTheLimitAreNotRead) {
  const Result<FileBytes> bytes = read_file(write("x", "12345"), 4, "kSomeLimit");
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().code, ErrorCode::over_limit);
  EXPECT_NE(bytes.error().message.find("5 bytes; the limit is 4 (kSomeLimit)"), std::string::npos);
}

TEST_F(Files, OfATerabyteAreRefusedAtOnce) {
  const std::string sparse = write("sparse", "");
  if (::truncate(sparse.c_str(), off_t{1} << 40) != 0) GTEST_SKIP() << "no sparse files here";
  expect_refused(sparse, ErrorCode::over_limit, "kMaxFileBytes");
}

TEST_F(Files, OfExactlyTwoGibibytesAreRefused) {
  const std::string sparse = write("sparse", "");
  if (::truncate(sparse.c_str(), limits::kMaxFileBytes + 1) != 0) GTEST_SKIP() << "no sparse files here";
  expect_refused(sparse, ErrorCode::over_limit, "2147483648 bytes");
}

TEST_F(Files, OfZerosGetTheSameErrorWhateverTheirSize) {
  const std::string small = write("small", std::string(100, '\0'));
  const std::string large = write("large", "");
  if (::truncate(large.c_str(), limits::kMaxFileBytes) != 0) GTEST_SKIP() << "no sparse files here";
  for (const std::string& zeros : {small, large}) {
    const Result<ImportedModel> model = import_model(zeros);
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.error().code, ErrorCode::malformed);
    EXPECT_EQ(model.error().message, "not an ONNX model: field number 0 does not exist");
    EXPECT_EQ(model.error().place, zeros + ": byte 1");
  }
}

TEST_F(Files, ThatArePipesAreRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expect_refused(path("pipe"), ErrorCode::io, "a pipe");
}

TEST_F(Files, ThatAreFoldersOrDevicesAreRefused) {
  expect_refused(path(""), ErrorCode::io, "a directory");
  expect_refused("/dev/zero", ErrorCode::io, "a device");
  expect_refused(path("absent"), ErrorCode::io, "No such file");
  expect_refused(std::string("a\0b", 3), ErrorCode::io, "zero byte");
}

TEST_F(Files, HaveTheirPathBeforeTheMessage) {
  const Result<ImportedModel> model = import_model(write("model.onnx", ""));
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().place, path("model.onnx"));
}

TEST_F(Files, ThatChangeAfterTheyAreOpenedAreNoticed) {
  const std::string name = write("model.onnx", "12345");
  const Result<std::unique_ptr<File>> file = File::open(name, 100, "limit");
  ASSERT_TRUE(file.ok()) << file.error().describe();
  EXPECT_TRUE((*file)->check_unchanged().ok());
  ASSERT_EQ(::truncate(name.c_str(), 3), 0);
  const Result<void> changed = (*file)->check_unchanged();
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().code, ErrorCode::io);
  EXPECT_EQ(changed.error().message, "changed while it was read: it had 5 bytes and now has 3; read it again");
  std::string bytes(5, '\0');
  const Result<void> read = (*file)->read(0, bytes);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message, "shrank while it was read: only 3 of 5 bytes are left");
}

std::string sha256_of(std::string_view text) {
  Sha256 hash;
  hash.add(text.substr(0, text.size() / 2));
  hash.add(text.substr(text.size() / 2));
  return hash.finish();
}

TEST(Sha256, AgreesWithTheStandardsExample) {
  // FIPS 180-4: "abc"
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace lowtide::import_internal
