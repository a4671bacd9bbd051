// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Reads any bytes as a TFLite model. One that is not refused becomes a graph, which is planned and verified.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/plan_and_verify.h"
#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "lowtide/tflite/model_import/graph_of_tflite.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(bytes), size);
  const auto model = lowtide::read_tflite(file);
  if (!model) return 0;
  const auto made = lowtide::graph_of_tflite(*model, file);
  if (!made || made->graph.total_nodes() > 200) return 0;
  lowtide::plan_and_verify(made->graph);
  return 0;
}
