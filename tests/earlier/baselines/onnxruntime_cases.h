// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "lowtide/earlier/baselines/onnxruntime.h"
#include "tests/testing/graphs.h"

// Predictions for graphs in text form.
namespace lowtide::testing {

inline constexpr std::int64_t kKiB = 1024;
inline constexpr std::int64_t kMiB = 1024 * kKiB;

inline OnnxRuntimeMemory predicted(std::string_view text, const OnnxRuntimeShapes& shapes = {}) {
  const Graph graph = graph_of("graph \"g\" {" + std::string(text) + "\n}");
  Result<OnnxRuntimeMemory> memory = predict_onnxruntime(graph, shapes);
  EXPECT_TRUE(memory.ok());
  return *memory;
}

inline std::int64_t live_bytes(std::string_view text, const OnnxRuntimeShapes& shapes = {}) {
  return predicted(text, shapes).live.count();
}

}  // namespace lowtide::testing
