// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lowtide/graph/builder.h"
#include "lowtide/verify/bytes/alias_meaning.h"

namespace lowtide::testing {
namespace {

// Why the result is not its input of 6 bytes, or an empty string if it is.
std::string obstacle(const std::string& domain, const std::string& type) {
  GraphBuilder builder("views");
  const TensorId x = builder.add_tensor({.name = "x", .dtype = DType::u8, .shape = Shape({2, 3})}, Role::input);
  const TensorId y = builder.add_tensor({.name = "y", .dtype = DType::u8, .shape = Shape({6})});
  builder.add_node({.domain = domain, .type = type, .inputs = {x}, .outputs = {y}});
  builder.set_outputs({y});
  const Result<Graph> graph = std::move(builder).build();
  const verify_internal::AliasMeaning meaning = verify_internal::alias_meaning(*graph, NodeId(0));
  if (meaning.obstacle.empty()) {
    EXPECT_EQ(meaning.parts.at(0).length, 6);
  }
  return meaning.obstacle;
}

// Each operator in its own domain only.
TEST(AliasMeaning, ViewsOfOtherSystemsKeepAllBytes) {
  EXPECT_EQ(obstacle("caffe2", "Alias"), "");
  for (const char* type : {"ExpandDims", "Identity", "PreventGradient", "Reshape", "Squeeze", "StopGradient"}) {
    EXPECT_EQ(obstacle("tensorflow", type), "") << type;
    EXPECT_THAT(obstacle("tensorflow.unsized", type), ::testing::HasSubstr("not a view")) << type;
  }
  for (const char* type : {"Reshape", "Copy", "Flatten"}) {
    EXPECT_THAT(obstacle("caffe2", type), ::testing::HasSubstr("not a view")) << type;
  }
}

}  // namespace
}  // namespace lowtide::testing
