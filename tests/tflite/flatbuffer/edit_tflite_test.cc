// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/flatbuffer/edit_tflite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "tests/tflite/flatbuffer/built_model.h"

namespace lowtide {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using tflite_tests::build;
using tflite_tests::BuiltMetadata;
using tflite_tests::BuiltModel;
using tflite_tests::BuiltSubgraph;

// Two operators that do not depend on each other, with constants of 3 and 4 bytes.
BuiltModel model(std::vector<BuiltMetadata> metadata, bool has_bytes_outside = false) {
  return {.subgraphs = {{.tensors = {{"x", {4}},
                                     {"w", {3}, TfliteType::int8, "abc"},
                                     {"v", {4}, TfliteType::int8, "defg"},
                                     {"a", {4}},
                                     {"b", {4}}},
                         .operators = {{"RELU", {0}, {3}}, {"custom:Scale", {0, 2}, {4}, {}, "", "options"}},
                         .inputs = {0},
                         .outputs = {3, 4}}},
          .metadata = std::move(metadata),
          .has_bytes_outside = has_bytes_outside};
}

TfliteModel read(const std::string& file) {
  Result<TfliteModel> model = read_tflite(file);
  if (!model) ADD_FAILURE() << model.error().describe();
  return model ? *std::move(model) : TfliteModel();
}

std::string content(const std::string& file, const TfliteBytes& range) {
  return file.substr(static_cast<std::size_t>(range.offset), static_cast<std::size_t>(range.size));
}

std::string metadata_of(const std::string& file, const std::string& name) {
  const TfliteModel model = read(file);
  std::string found = "none";
  for (const TfliteMetadata& one : model.metadata) {
    if (one.name == name) found = found == "none" ? content(file, model.buffers[one.buffer]) : "several";
  }
  return found;
}

std::size_t differences(const std::string& a, const std::string& b) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < a.size(); ++at) count += a[at] == b[at] ? 0 : 1;
  return count;
}

TEST(EditTflite, AnEmptyEditChangesNothing) {
  const std::string file = build(model({}));
  EXPECT_EQ(*edit_tflite(file, {}), file);
}

TEST(EditTflite, OperatorsChangePlacesInTheirList) {
  const std::string file = build(model({}));
  const Result<std::string> edited = edit_tflite(file, {.orders = {{1, 0}}});
  ASSERT_TRUE(edited.ok());
  EXPECT_EQ(edited->size(), file.size());
  EXPECT_LE(differences(file, *edited), 8u);  // two offsets
  const TfliteModel model = read(*edited);
  EXPECT_EQ(model.subgraphs[0].operators[0].type, "Scale");
  EXPECT_EQ(model.subgraphs[0].operators[1].type, "RELU");
  EXPECT_EQ(content(*edited, model.subgraphs[0].operators[0].custom_options), "options");
}

TEST(EditTflite, NewMetadataIsInFrontOfTheWholeOldFile) {
  for (const std::vector<BuiltMetadata>& others : {std::vector<BuiltMetadata>{}, {{"other", "xyz"}}}) {
    const std::string file = build(model(others));
    const Result<std::string> edited = edit_tflite(file, {.metadata_name = "plan", .metadata = "12345678"});
    ASSERT_TRUE(edited.ok()) << edited.error().describe();
    EXPECT_THAT(*edited, EndsWith(file));
    EXPECT_EQ((edited->size() - file.size()) % 64, 0u);
    EXPECT_EQ(metadata_of(*edited, "plan"), "12345678");
    EXPECT_EQ(metadata_of(*edited, "other"), others.empty() ? "none" : "xyz");
    const TfliteModel before = read(file);
    const TfliteModel after = read(*edited);
    EXPECT_EQ(after.buffers.size(), before.buffers.size() + 1);
    EXPECT_EQ(after.description, "built");
    EXPECT_EQ(content(*edited, after.buffers[after.subgraphs[0].tensors[2].buffer]), "defg");
    EXPECT_EQ(after.buffers[after.metadata.back().buffer].offset % 16, 0);
  }
}

TEST(EditTflite, MetadataOfTheSameSizeIsReplacedInItsPlace) {
  const std::string file = build(model({{"plan", "12345678"}, {"other", "xyz"}}));
  const Result<std::string> edited = edit_tflite(file, {.metadata_name = "plan", .metadata = "87654321"});
  ASSERT_TRUE(edited.ok());
  EXPECT_EQ(edited->size(), file.size());
  EXPECT_EQ(differences(file, *edited), 8u);
  EXPECT_EQ(metadata_of(*edited, "plan"), "87654321");
}

TEST(EditTflite, MetadataOfAnotherSizeIsReplaced) {
  const std::string file = build(model({{"plan", "1234"}, {"other", "xyz"}, {"plan", "12"}}));
  const Result<std::string> edited = edit_tflite(file, {.metadata_name = "plan", .metadata = "87654321"});
  ASSERT_TRUE(edited.ok());
  EXPECT_EQ(metadata_of(*edited, "plan"), "87654321");
  EXPECT_EQ(metadata_of(*edited, "other"), "xyz");
}

TEST(EditTflite, PlacesBehindTheFlatbufferMoveWithIt) {
  const std::string file = build(model({}, true));
  const Result<std::string> edited = edit_tflite(file, {.orders = {{1, 0}}, .metadata_name = "plan", .metadata = "12"});
  ASSERT_TRUE(edited.ok());
  const TfliteModel model = read(*edited);
  EXPECT_EQ(content(*edited, model.buffers[model.subgraphs[0].tensors[1].buffer]), "abc");
  EXPECT_EQ(content(*edited, model.buffers[model.subgraphs[0].tensors[2].buffer]), "defg");
  EXPECT_EQ(model.subgraphs[0].operators[0].type, "Scale");
}

TEST(EditTflite, CanBeAppliedAgain) {
  const std::string file = build(model({}));
  const Result<std::string> once = edit_tflite(file, {.metadata_name = "plan", .metadata = "1"});
  ASSERT_TRUE(once.ok());
  const Result<std::string> twice = edit_tflite(*once, {.metadata_name = "plan", .metadata = "22"});
  ASSERT_TRUE(twice.ok());
  EXPECT_EQ(metadata_of(*twice, "plan"), "22");
  EXPECT_EQ(*edit_tflite(*once, {.metadata_name = "plan", .metadata = "1"}), *once);
}

}  // namespace
}  // namespace lowtide
