// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/window.h"

#include <algorithm>
#include <limits>
#include <string>

#include "lowtide/base/try.h"

namespace lowtide::tflite_program_internal {
namespace {

// The elements of the input and the extent of the output along an axis.
struct Extents {
  std::int64_t input = 1;
  std::int64_t output = 1;
  std::int64_t step = 1;  // from one place of the input to the next one, in elements
};

// An axis with its padding.
Result<WindowAxis> axis_of(const OperatorContext& context, WindowAxis axis, const Extents& extents) {
  const auto& [input, output, step] = extents;
  constexpr std::int64_t kMost = std::int64_t{1} << 24;  // so that positions have 32 bits
  for (std::int64_t number : {axis.taps, axis.stride, axis.dilation}) {
    if (number >= 1 && number <= kMost) continue;
    return context.invalid("its window has extent " + std::to_string(axis.taps) + ", stride " +
                           std::to_string(axis.stride) + " and dilation " + std::to_string(axis.dilation) +
                           " along an axis; each has to be from 1 to " + std::to_string(kMost));
  }
  if (axis.taps == 1) axis.dilation = 1;  // there is no other tap that it could move away
  const std::int64_t reach = (axis.taps - 1) * axis.dilation + 1;
  const bool is_same = context.name_option("padding") == "SAME";
  const std::int64_t expected =
      is_same ? (input + axis.stride - 1) / axis.stride : (input - reach + axis.stride) / axis.stride;
  if (output != expected || expected < 1) {
    return context.invalid("its output has extent " + std::to_string(output) + " along an axis where " +
                           std::to_string(std::max<std::int64_t>(expected, 0)) + " follows from its input");
  }
  if (input > kMost || reach > kMost) {
    return context.invalid("its window reaches over " + std::to_string(reach) + " places of " + std::to_string(input) +
                           "; both have to be at most " + std::to_string(kMost));
  }
  // Kernels multiply the two even where the next tap is outside of the input.
  if (std::max(axis.dilation, axis.stride) + input > std::numeric_limits<std::int32_t>::max() / step) {
    return context.invalid("its dilation " + std::to_string(axis.dilation) + " or its stride " +
                           std::to_string(axis.stride) + " is too large for its input");
  }
  if (is_same) axis.before = std::max<std::int64_t>((output - 1) * axis.stride + reach - input, 0) / 2;
  return axis;
}

}  // namespace

Result<Window> window_of(const OperatorContext& context, std::int64_t rows, std::int64_t columns) {
  const std::string_view padding = context.name_option("padding");
  if (padding != "SAME" && padding != "VALID") return context.invalid("its padding is neither SAME nor VALID");
  const Shape& input = context.input(0).shape;
  const Shape& output = context.output().shape;
  const auto dilation = [&](std::string_view name) { return std::max<std::int64_t>(context.option(name), 1); };
  Window window;
  LOWTIDE_TRY(window.rows, axis_of(context, {rows, context.option("stride_h"), dilation("dilation_h_factor")},
                                   {input[1], output[1], input[2] * input[3]}));
  LOWTIDE_TRY(window.columns, axis_of(context, {columns, context.option("stride_w"), dilation("dilation_w_factor")},
                                      {input[2], output[2], input[3]}));
  return window;
}

std::int64_t transposed_padding(bool is_same, std::int64_t output, std::int64_t taps, std::int64_t stride) {
  if (!is_same) return 0;
  const std::int64_t steps = (output + stride - 1) / stride;
  return std::max<std::int64_t>((steps - 1) * stride + taps - output, 0) / 2;
}

}  // namespace lowtide::tflite_program_internal
