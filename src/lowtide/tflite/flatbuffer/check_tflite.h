// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/base/result.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"

namespace lowtide::flatbuffer_internal {

[[nodiscard]] inline Error invalid(std::string message, std::string place) {
  return {ErrorCode::invalid, std::move(message), std::move(place)};
}

// "subgraph 0 'main'", "...: tensor 3 'conv'", "...: operator 5 CONV_2D"
[[nodiscard]] std::string subgraph_place(std::uint32_t index, std::string_view name);
[[nodiscard]] std::string tensor_place(const std::string& subgraph, std::uint32_t index, std::string_view name);
[[nodiscard]] std::string operator_place(const std::string& subgraph, std::uint32_t index, std::string_view type);

// Checks what read_tflite() promises beyond the indexes of tensors. Fills TfliteOperator::calls, and mends axes of
// quantization that can only mean one. Errors: those of
// read_tflite().
[[nodiscard]] Result<void> check_tflite(TfliteModel& model);

}  // namespace lowtide::flatbuffer_internal
