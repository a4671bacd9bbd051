// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/formats/earlier_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "lowtide/import/import.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kNet = R"(name: "small" external_input: "x" external_output: "y"
op { input: "x" output: "y" type: "Relu" })";
constexpr const char* kGraphDef = R"(node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "y" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } })";

// A file that is gone with the object.
class WrittenFile {
 public:
  WrittenFile(const std::string& name, const std::string& text)
      : path_(std::filesystem::path(::testing::TempDir()) / ("formats_" + name)) {
    std::ofstream(path_) << text;
  }
  WrittenFile(const WrittenFile&) = delete;
  WrittenFile& operator=(const WrittenFile&) = delete;
  ~WrittenFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(EarlierFormats, ReadANetWithItsStorage) {
  const WrittenFile file("net.pbtxt", kNet);
  const auto model = import_model(file.path(), {.shapes = {{"x", {2, 3}}}, .formats = earlier_formats()});
  ASSERT_TRUE(model) << model.error().describe();
  EXPECT_EQ(model->format, "netdef_text");
  EXPECT_EQ(model->graph.nodes().size(), 1u);
  ASSERT_TRUE(model->storage);
  EXPECT_THAT(model->storage->device_names, ::testing::ElementsAre("cpu"));
}

TEST(EarlierFormats, ReadAGraphDefWhateverItsName) {
  const WrittenFile file("graph", kGraphDef);
  const auto model = import_model(file.path(), {.shapes = {{"x", {2, 3}}}, .formats = earlier_formats()});
  ASSERT_TRUE(model) << model.error().describe();
  EXPECT_EQ(model->format, "graphdef_text");
  EXPECT_FALSE(model->storage);
}

TEST(EarlierFormats, WithoutThemTheErrorSaysHowToReadTheFile) {
  const WrittenFile net("other.pbtxt", kNet);
  const WrittenFile binary("binary", std::string("\x0a\x05small", 7));
  for (const WrittenFile* file : {&net, &binary}) {
    const auto model = import_model(file->path());
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, ErrorCode::unsupported);
    EXPECT_THAT(model.error().message, HasSubstr("lowtide_WITH_EARLIER=ON"));
    EXPECT_THAT(model.error().place, HasSubstr(file->path()));
  }
}

TEST(EarlierFormats, WithoutThemAnEmptyFileIsNoNet) {
  const WrittenFile file("empty", "");
  const auto model = import_model(file.path());
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, ::testing::Not(HasSubstr("NetDef")));
}

}  // namespace
}  // namespace lowtide::testing
