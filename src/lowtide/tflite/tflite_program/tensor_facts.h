// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/tflite/flatbuffer/tflite_model.h"

// What kernels in C need to know about the tensors of a file.
namespace lowtide::tflite_program_internal {

using Shape = std::vector<std::int64_t>;

// The number of elements. Requires: extents of a tensor that has bounded_bytes().
[[nodiscard]] std::int64_t elements_of(const Shape& shape);

// The bytes of a tensor whose extents of 0 are counted as 1, so that products of some of its extents are bounded as
// well. nullopt: 2 GiB or more, which positions of 32 bits cannot tell apart.
[[nodiscard]] std::optional<std::int64_t> bounded_bytes(const TfliteTensor& tensor);

// Limits, both of which are included.
struct Range {
  std::int32_t lowest = 0;
  std::int32_t highest = 0;
};

// The numbers of a quantized type. Types that are not quantized have those of INT32.
[[nodiscard]] Range range_of(TfliteType type);

// What is wrong with the first zero point. nullopt: it is a number of the type of the tensor, or there is none.
[[nodiscard]] std::optional<std::string> zero_point_fault(const TfliteTensor& tensor);

// The first scale as a float, as runtimes read it. 0: there is none.
[[nodiscard]] float scale_of(const TfliteTensor& tensor);
// The first zero point. 0 if there is none. Requires: zero_point_fault() finds none.
[[nodiscard]] std::int32_t zero_point_of(const TfliteTensor& tensor);

// "[1, 96, 96, 3]"
[[nodiscard]] std::string shape_text(const Shape& shape);

}  // namespace lowtide::tflite_program_internal
