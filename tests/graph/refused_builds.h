// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <utility>

#include "lowtide/graph/builder.h"

namespace lowtide::testing {

inline GraphBuilder::TensorSpec floats(std::string name, std::int64_t count = 4) {
  return {.name = std::move(name), .dtype = DType::f32, .shape = Shape({count})};
}

inline void expect_refused(GraphBuilder builder, ErrorCode code, const std::string& described) {
  const Result<Graph> graph = std::move(builder).build();
  ASSERT_FALSE(graph.ok()) << described;
  EXPECT_EQ(graph.error().code, code) << graph.error().describe();
  EXPECT_THAT(graph.error().describe(), ::testing::HasSubstr(described));
}

}  // namespace lowtide::testing
