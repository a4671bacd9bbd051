// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "tests/tflite/flatbuffer/built_model.h"

namespace lowtide {
namespace {

using tflite_tests::build;
using tflite_tests::BuiltModel;
using tflite_tests::BuiltSubgraph;
using tflite_tests::bytes_of;

std::string some_file() {
  const BuiltSubgraph body{.tensors = {{"a", {2, 2}}, {"b", {2, 2}}},
                           .operators = {{"RELU", {0}, {1}}},
                           .inputs = {0},
                           .outputs = {1},
                           .name = "body"};
  const BuiltSubgraph main{.tensors = {{"c", {1}, TfliteType::boolean},
                                       {"x", {2, 2}, TfliteType::int8, "", {0.5F}, {1}},
                                       {"y", {2, 2}},
                                       {"shape", {1}, TfliteType::int32, bytes_of({4})},
                                       {"z", {4}}},
                           .operators = {{"IF", {0, 1}, {2}, {{"then_subgraph_index", 1}, {"else_subgraph_index", 1}}},
                                         {"RESHAPE", {2, 3}, {4}}},
                           .inputs = {0, 1},
                           .outputs = {4}};
  return build(BuiltModel{.subgraphs = {main, body}, .metadata = {{"m", "xy"}}});
}

// A file that is cut off or changed is refused or read, and nothing else happens. Sanitizers watch this test.
TEST(HostileTflite, EveryPrefixIsRefused) {
  const std::string file = some_file();
  ASSERT_TRUE(read_tflite(file).ok()) << read_tflite(file).error().describe();
  std::size_t refused = 0;
  for (std::size_t size = 0; size < file.size(); ++size) refused += read_tflite(file.substr(0, size)).ok() ? 0u : 1u;
  // Only padding may be missing.
  EXPECT_GE(refused, file.size() - 8);
}

TEST(HostileTflite, ChangedBytesDoNoHarm) {
  const std::string file = some_file();
  Random random(7);
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string changed = file;
    const std::uint64_t changes = 1 + random.below(3);
    for (std::uint64_t change = 0; change < changes; ++change) {
      changed[random.below(changed.size())] = static_cast<char>(random.below(256));
    }
    const Result<TfliteModel> model = read_tflite(changed);
    if (model) continue;
    ++refused;
    EXPECT_FALSE(model.error().message.empty());
  }
  EXPECT_GT(refused, 1'000u);
  EXPECT_LT(refused, 20'000u);  // some changes are in names
}

}  // namespace
}  // namespace lowtide
