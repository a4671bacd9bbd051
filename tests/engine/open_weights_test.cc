// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/open_weights.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "lowtide/engine/engine.h"
#include "lowtide/import/import.h"
#include "small_model.h"

namespace lowtide {
namespace {

TEST(OpenWeights, GiveResultsOfLoadTimeWork) {
  // y = Add(x, Relu(w)): the graph that runs reads the result of Relu, which is all ones.
  const std::string path = (std::filesystem::temp_directory_path() / "lowtide_open_weights_test.onnx").string();
  std::ofstream(path, std::ios::binary) << testing::ones_added(3, true);
  initialize();
  Result<ImportedModel> model = import_model(path);
  ASSERT_TRUE(model.ok());
  LowerOptions options;
  options.constants = static_cast<std::uint32_t>(model->constants.sources.size());
  options.table = &model->constants;
  const Result<Lowered> lowered = lower(model->graph, options);
  ASSERT_TRUE(lowered.ok());
  ASSERT_EQ(lowered->load.nodes().size(), 1U);

  const Result<std::shared_ptr<const ModelWeights>> weights = open_weights(path, *lowered, model->constants);
  std::filesystem::remove(path);
  ASSERT_TRUE(weights.ok()) << weights.error().describe();
  const Node& add = lowered->graph.node(NodeId(0));
  const std::optional<std::span<const std::byte>> bytes =
      (*weights)->bytes(*lowered->graph.tensor(*add.inputs[1]).constant);
  ASSERT_TRUE(bytes.has_value());
  ASSERT_EQ(bytes->size(), 48U);
  float first = 0;
  std::memcpy(&first, bytes->data(), sizeof(first));
  EXPECT_EQ(first, 1.0F);
}

}  // namespace
}  // namespace lowtide
