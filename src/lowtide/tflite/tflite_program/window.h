// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/c_source/c_program/c_program.h"
#include "lowtide/tflite/tflite_program/operator_context.h"

namespace lowtide::tflite_program_internal {

// A window that slides along one axis.
struct WindowAxis {
  std::int64_t taps = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t before = 0;  // padding in front of the input
};

struct Window {
  WindowAxis rows;
  WindowAxis columns;
};

// Reads the strides, the dilations and the padding of an operator whose window has this many taps, and checks the
// extents of its output. Requires: both shapes have 4 axes.
[[nodiscard]] Result<Window> window_of(const OperatorContext& context, std::int64_t rows, std::int64_t columns);

// The rows or columns of padding of a TRANSPOSE_CONV, which are those of the convolution from its output to its input.
[[nodiscard]] std::int64_t transposed_padding(bool is_same, std::int64_t output, std::int64_t taps,
                                              std::int64_t stride);

}  // namespace lowtide::tflite_program_internal
