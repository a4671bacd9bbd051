// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/tflite/tflite_program/operator_context.h"

namespace lowtide::tflite_program_internal {

// Where the weights of a convolution are among those of the file. Rows and columns have an offset per tap, and nullopt
// stands for a tap whose weights are 0.
struct Filter {
  std::int64_t groups = 1;
  std::int64_t outputs = 1;  // of a group
  std::int64_t depth = 1;    // input channels of a group
  std::vector<std::optional<std::int64_t>> rows;
  std::vector<std::optional<std::int64_t>> columns;
  std::int64_t output_step = 1;
  std::int64_t depth_step = 1;
};

// The offsets of taps that are `step` apart.
[[nodiscard]] std::vector<std::optional<std::int64_t>> offsets_of(std::int64_t count, std::int64_t step);

// The weights, which are input 1, in the order of the kernel conv_2d_nhwc_f32. Errors: unsupported (they are computed,
// have another type, or have 2 GiB in this order).
[[nodiscard]] Result<std::vector<float>> packed_weights(const OperatorContext& context, const Filter& filter);

}  // namespace lowtide::tflite_program_internal
