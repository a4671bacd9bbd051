// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/tensor_facts.h"

#include <algorithm>
#include <limits>

#include "lowtide/base/checked.h"
#include "lowtide/base/quote.h"

namespace lowtide::tflite_program_internal {

std::int64_t elements_of(const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count = must_multiply(count, extent);
  return count;
}

std::optional<std::int64_t> bounded_bytes(const TfliteTensor& tensor) {
  std::optional<std::int64_t> bytes = (bits_of(tensor.type).value_or(8) + 7) / 8;
  for (std::int64_t extent : tensor.shape) {
    if (bytes) bytes = checked_multiply(*bytes, std::max<std::int64_t>(extent, 1));
  }
  return bytes && *bytes <= std::numeric_limits<std::int32_t>::max() ? bytes : std::nullopt;
}

Range range_of(TfliteType type) {
  if (type == TfliteType::int8) return {.lowest = -128, .highest = 127};
  if (type == TfliteType::uint8) return {.lowest = 0, .highest = 255};
  if (type == TfliteType::int16) return {.lowest = -32768, .highest = 32767};
  return {.lowest = std::numeric_limits<std::int32_t>::min(), .highest = std::numeric_limits<std::int32_t>::max()};
}

std::optional<std::string> zero_point_fault(const TfliteTensor& tensor) {
  if (tensor.quantization.zero_points.empty()) return std::nullopt;
  const std::int64_t zero_point = tensor.quantization.zero_points.front();
  const Range range = range_of(tensor.type);
  if (zero_point >= range.lowest && zero_point <= range.highest) return std::nullopt;
  return "the zero point " + std::to_string(zero_point) + " of tensor " + quoted(tensor.name, 60) +
         " is no number of its type " + std::string(to_string(tensor.type));
}

float scale_of(const TfliteTensor& tensor) {
  return tensor.quantization.scales.empty() ? 0.0F : static_cast<float>(tensor.quantization.scales.front());
}

std::int32_t zero_point_of(const TfliteTensor& tensor) {
  return tensor.quantization.zero_points.empty() ? 0
                                                 : static_cast<std::int32_t>(tensor.quantization.zero_points.front());
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (std::int64_t extent : shape) text += (text.size() == 1 ? "" : ", ") + std::to_string(extent);
  return text + "]";
}

}  // namespace lowtide::tflite_program_internal
