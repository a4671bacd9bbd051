// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/micro/offline_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "tests/tflite/flatbuffer/built_model.h"

namespace lowtide {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tflite_tests::build;
using tflite_tests::BuiltMetadata;
using tflite_tests::bytes_of;

Result<std::optional<MicroOffsets>> read(const std::vector<BuiltMetadata>& metadata) {
  const std::string file = build(tflite_tests::BuiltModel{
      .subgraphs =
          {{.tensors = {{"x", {4}}, {"y", {4}}}, .operators = {{"RELU", {0}, {1}}}, .inputs = {0}, .outputs = {1}}},
      .metadata = metadata});
  return read_offline_plan(*read_tflite(file), file);
}

TEST(OfflinePlan, ReadsTheLastListOfItsName) {
  EXPECT_EQ(*read({{"min_runtime_version", "1.5.0"}}), std::nullopt);
  const auto offsets =
      read({{kOfflinePlanName, bytes_of({1, 1, 2, 0, 0})}, {kOfflinePlanName, bytes_of({1, 1, 2, 32, -1})}});
  ASSERT_TRUE(offsets.ok() && offsets->has_value());
  EXPECT_THAT(**offsets, ElementsAre(Offset(32), std::nullopt));
}

TEST(OfflinePlan, RefusesListsOfAnotherLength) {
  EXPECT_THAT(read({{kOfflinePlanName, bytes_of({1, 1, 3, 0, 0})}}).error().describe(), HasSubstr("has 5 numbers"));
  EXPECT_FALSE(read({{kOfflinePlanName, bytes_of({1, 1, 2, 0})}}).ok());
  EXPECT_FALSE(read({{kOfflinePlanName, "abc"}}).ok());
  EXPECT_THAT(read({{kOfflinePlanName, bytes_of({1, 1, 2, 0, -5})}}).error().describe(), HasSubstr("offset -5"));
}

TEST(OfflinePlan, WritesWhatItReads) {
  TfliteModel model;
  model.subgraphs.resize(2);
  EXPECT_EQ(offline_plan_bytes(model, {Offset(16), std::nullopt}), bytes_of({1, 2, 2, 16, -1}));
}

}  // namespace
}  // namespace lowtide
