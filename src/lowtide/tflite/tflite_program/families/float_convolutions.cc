// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"
#include "lowtide/tflite/tflite_program/families/filter.h"
#include "lowtide/tflite/tflite_program/float_activation.h"
#include "lowtide/tflite/tflite_program/window.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

// Rows or columns, with the places of the output: every `spread` one from `start` on.
struct ConvolvedAxis {
  std::int64_t input = 1;
  std::int64_t output = 1;
  WindowAxis window;
  std::int64_t start = 0;
  std::int64_t spread = 1;
};

struct Convolution {
  std::int64_t batches = 1;
  ConvolvedAxis rows;
  ConvolvedAxis columns;
  std::size_t input = 0;  // inputs of the operator
  std::size_t bias = 2;
};

// A window of one tap that goes through all pixels sees them as one row.
void merge_rows(Convolution& convolution) {
  for (const ConvolvedAxis* axis : {&convolution.rows, &convolution.columns}) {
    const WindowAxis& window = axis->window;
    if (window.taps != 1 || window.stride != 1 || window.before != 0 || axis->input != axis->output) return;
  }
  const std::int64_t pixels = convolution.batches * convolution.rows.input * convolution.columns.input;
  convolution = {.columns = {.input = pixels, .output = pixels}, .input = convolution.input, .bias = convolution.bias};
}

// Parameters of the window, as kernels call them.
void append_float_window(const Window& window, std::vector<CParameter>& to) {
  to.push_back(parameter("window_rows", window.rows.taps));
  to.push_back(parameter("window_columns", window.columns.taps));
  to.push_back(parameter("row_stride", window.rows.stride));
  to.push_back(parameter("column_stride", window.columns.stride));
  to.push_back(parameter("row_dilation", window.rows.dilation));
  to.push_back(parameter("column_dilation", window.columns.dilation));
  to.push_back(parameter("top", window.rows.before));
  to.push_back(parameter("left", window.columns.before));
}

Result<void> call_convolution(OperatorContext& context, Convolution convolution, const Filter& filter) {
  const auto& shape = context.output().shape;
  const std::int64_t channels = filter.groups * filter.outputs;
  const std::int64_t row = shape.size() == 4 ? shape[2] * channels : 0;
  const std::int64_t image = shape.size() == 4 ? shape[1] * row : 0;
  LOWTIDE_TRY(const FloatLimits limits, float_limits(context));
  LOWTIDE_TRY(std::vector<float> weights, packed_weights(context, filter));
  const ConvolvedAxis& rows = convolution.rows;
  const ConvolvedAxis& columns = convolution.columns;
  std::vector<CParameter> parameters = {
      parameter("batches", convolution.batches),   parameter("groups", filter.groups),
      parameter("input_rows", rows.input),         parameter("input_columns", columns.input),
      parameter("input_channels", filter.depth),   parameter("output_rows", rows.output),
      parameter("output_columns", columns.output), parameter("output_channels", filter.outputs)};
  append_float_window({.rows = rows.window, .columns = columns.window}, parameters);
  parameters.push_back(parameter("output_start", rows.start * row + columns.start * channels));
  parameters.push_back(parameter("output_image_step", image));
  parameters.push_back(parameter("output_row_step", rows.spread * row));
  parameters.push_back(parameter("output_column_step", columns.spread * channels));
  append_limits(limits, parameters);
  const COperand packed = context.constant("weights", weights);
  context.call("conv_2d_nhwc_f32", std::move(parameters),
               {context.in(convolution.input), packed, context.in(convolution.bias), context.out()});
  return {};
}

Result<void> check_float_bias(const OperatorContext& context, std::size_t bias, std::int64_t channels) {
  if (context.output().type != float32) {
    return context.unsupported("its output has type " + std::string(to_string(context.output().type)) +
                               "; supported is FLOAT32 for an input of FLOAT32");
  }
  if (!context.has_input(bias)) return {};
  const TfliteTensor& tensor = context.input(bias);
  if (tensor.type != float32) {
    return context.unsupported("its bias has type " + std::string(to_string(tensor.type)) + "; supported is FLOAT32");
  }
  if (elements_of(tensor.shape) != channels) {
    return context.invalid("its bias has " + std::to_string(elements_of(tensor.shape)) + " elements for " +
                           std::to_string(channels) + " channels");
  }
  return {};
}

Result<void> check_float_images(const OperatorContext& context, std::size_t input_at) {
  const Shape& input = context.input(input_at).shape;
  const Shape& weights = context.input(1).shape;
  const Shape& output = context.output().shape;
  const bool fits = input.size() == 4 && weights.size() == 4 && output.size() == 4 && elements_of(input) > 0 &&
                    elements_of(weights) > 0 && elements_of(output) > 0 && input[0] == output[0];
  if (fits) return {};
  return context.invalid("input " + shape_text(input) + ", weights " + shape_text(weights) + " and output " +
                         shape_text(output) + " do not fit together");
}

// The filter of weights that are [output][row][column][input].
Filter filter_of(const Shape& weights, std::int64_t groups) {
  return {.groups = groups,
          .outputs = weights[0] / groups,
          .depth = weights[3],
          .rows = offsets_of(weights[1], weights[2] * weights[3]),
          .columns = offsets_of(weights[2], weights[3]),
          .output_step = weights[1] * weights[2] * weights[3]};
}

Convolution convolution_of(const OperatorContext& context, const Window& window) {
  const Shape& input = context.input(0).shape;
  const Shape& output = context.output().shape;
  return {.batches = input[0],
          .rows = {.input = input[1], .output = output[1], .window = window.rows},
          .columns = {.input = input[2], .output = output[2], .window = window.columns}};
}

Result<void> add_float_convolution(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(check_float_images(context, 0));
  const Shape& input = context.input(0).shape;
  const Shape& weights = context.input(1).shape;
  const Shape& output = context.output().shape;
  const std::int64_t groups = input[3] / weights[3];
  if (input[3] % weights[3] != 0 || output[3] != weights[0] || output[3] % groups != 0) {
    return context.invalid("weights " + shape_text(weights) + " do not fit input " + shape_text(input) +
                           " and output " + shape_text(output));
  }
  LOWTIDE_RETURN_IF_ERROR(check_float_bias(context, 2, output[3]));
  LOWTIDE_TRY(const Window window, window_of(context, weights[1], weights[2]));
  Convolution convolution = convolution_of(context, window);
  merge_rows(convolution);
  return call_convolution(context, convolution, filter_of(weights, groups));
}

Result<void> add_float_depthwise(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(check_float_images(context, 0));
  const Shape& input = context.input(0).shape;
  const Shape& weights = context.input(1).shape;
  const Shape& output = context.output().shape;
  if (weights[0] != 1 || output[3] != weights[3] || output[3] % input[3] != 0) {
    return context.invalid("weights " + shape_text(weights) + " do not fit input " + shape_text(input) +
                           " and output " + shape_text(output));
  }
  LOWTIDE_RETURN_IF_ERROR(check_float_bias(context, 2, output[3]));
  LOWTIDE_TRY(const Window window, window_of(context, weights[1], weights[2]));
  if (input[3] == 1) {
    const Filter filter = {.outputs = output[3],
                           .rows = offsets_of(weights[1], weights[2] * weights[3]),
                           .columns = offsets_of(weights[2], weights[3])};
    return call_convolution(context, convolution_of(context, window), filter);
  }
  if (context.input(1).type != float32) {
    return context.unsupported("its weights have type " + std::string(to_string(context.input(1).type)) +
                               "; supported is FLOAT32");
  }
  LOWTIDE_TRY(const FloatLimits limits, float_limits(context));
  std::vector<CParameter> parameters = {parameter("batches", input[0]),
                                        parameter("input_rows", input[1]),
                                        parameter("input_columns", input[2]),
                                        parameter("input_channels", input[3]),
                                        parameter("output_rows", output[1]),
                                        parameter("output_columns", output[2]),
                                        parameter("multiplier", output[3] / input[3])};
  append_float_window(window, parameters);
  append_limits(limits, parameters);
  context.call("depthwise_conv_2d_nhwc_f32", std::move(parameters),
               {context.in(0), context.in(1), context.in(2), context.out()});
  return {};
}

// A product with weights that are computed. `depth` elements of a row are summed.
Result<void> call_product(OperatorContext& context, std::int64_t rows, std::int64_t depth, std::int64_t units) {
  if (context.input(1).type != float32) {
    return context.unsupported("its weights have type " + std::string(to_string(context.input(1).type)) +
                               "; supported is FLOAT32");
  }
  LOWTIDE_TRY(const FloatLimits limits, float_limits(context));
  const std::vector<std::int64_t> none = {0, 0};
  context.call("matmul_f32",
               {parameter("batches", {1, 1}), parameter("a_batch_steps", none), parameter("b_batch_steps", none),
                parameter("rows", rows), parameter("inner", depth), parameter("columns", units),
                parameter("a_row_step", depth), parameter("a_inner_step", 1), parameter("b_inner_step", 1),
                parameter("b_column_step", depth), parameter("addend_row_step", 0), parameter("addend_column_step", 1),
                CParameter{"alpha", 1.0F}, CParameter{"beta", 1.0F}},
               {context.in(0), context.in(1), context.in(2), context.out()});
  add_limits(context, limits);
  return {};
}

Result<void> add_float_fully_connected(OperatorContext& context) {
  const Shape& weights = context.input(1).shape;
  const Shape& output = context.output().shape;
  if (context.name_option("weights_format") != "DEFAULT" && !context.name_option("weights_format").empty()) {
    return context.unsupported("its weights have another format than DEFAULT");
  }
  if (weights.size() != 2 || output.empty() || elements_of(weights) == 0 || output.back() != weights[0]) {
    return context.invalid("weights " + shape_text(weights) + " do not fit output " + shape_text(output));
  }
  const std::int64_t rows = elements_of(output) / weights[0];
  if (elements_of(context.input(0).shape) != rows * weights[1]) {
    return context.invalid("weights " + shape_text(weights) + " and output " + shape_text(output) +
                           " do not fit input " + shape_text(context.input(0).shape));
  }
  LOWTIDE_RETURN_IF_ERROR(check_float_bias(context, 2, weights[0]));
  if (!std::holds_alternative<CConstantIndex>(context.in(1))) {
    return call_product(context, rows, weights[1], weights[0]);
  }
  const Convolution convolution = {.columns = {.input = rows, .output = rows}};
  return call_convolution(context, convolution, filter_of({weights[0], 1, 1, weights[1]}, 1));
}

// The places of the output of a TRANSPOSE_CONV that are `stride` apart, along one axis. Each is the result of a
// convolution with every `stride`-th tap, in reverse order.
struct SpreadAxis {
  ConvolvedAxis axis;
  std::vector<std::optional<std::int64_t>> taps;
};

SpreadAxis spread_axis(const ConvolvedAxis& whole, std::int64_t phase) {
  const std::int64_t stride = whole.window.stride;
  const std::int64_t first = (phase + whole.window.before) % stride;
  SpreadAxis spread;
  for (std::int64_t tap = first; tap < whole.window.taps; tap += stride) spread.taps.emplace_back(tap);
  if (spread.taps.empty()) spread.taps.emplace_back();
  std::ranges::reverse(spread.taps);
  const auto taps = static_cast<std::int64_t>(spread.taps.size());
  spread.axis = {.input = whole.input,
                 .output = (whole.output - phase + stride - 1) / stride,
                 .window = {.taps = taps, .before = taps - 1 - (phase + whole.window.before) / stride},
                 .start = phase,
                 .spread = stride};
  return spread;
}

std::vector<std::optional<std::int64_t>> scaled_offsets(std::vector<std::optional<std::int64_t>> taps,
                                                        std::int64_t step) {
  for (std::optional<std::int64_t>& tap : taps) {
    if (tap) *tap *= step;
  }
  return taps;
}

// One convolution for each pair of phases of rows and columns.
Result<void> call_transposed(OperatorContext& context, const Convolution& whole) {
  constexpr std::int64_t kMostPhases = 256;
  const std::int64_t row_phases = std::min(whole.rows.window.stride, whole.rows.output);
  const std::int64_t column_phases = std::min(whole.columns.window.stride, whole.columns.output);
  if (row_phases * column_phases > kMostPhases) {
    return context.unsupported("its strides have a product above " + std::to_string(kMostPhases));
  }
  const Shape& weights = context.input(1).shape;
  for (std::int64_t at = 0; at < row_phases * column_phases; ++at) {
    const SpreadAxis rows = spread_axis(whole.rows, at / column_phases);
    const SpreadAxis columns = spread_axis(whole.columns, at % column_phases);
    Convolution part = whole;
    part.rows = rows.axis;
    part.columns = columns.axis;
    Filter filter = filter_of(weights, 1);
    filter.rows = scaled_offsets(rows.taps, weights[2] * weights[3]);
    filter.columns = scaled_offsets(columns.taps, weights[3]);
    LOWTIDE_RETURN_IF_ERROR(call_convolution(context, part, filter));
  }
  return {};
}

// What a transposed convolution is like. `input` and `bias` are inputs of the operator.
struct Transposed {
  std::size_t input = 2;
  std::size_t bias = 3;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  bool is_same = false;  // its padding
};

Result<void> add_transposed(OperatorContext& context, const Transposed& how) {
  LOWTIDE_RETURN_IF_ERROR(check_float_images(context, how.input));
  const Shape& input = context.input(how.input).shape;
  const Shape& weights = context.input(1).shape;
  const Shape& output = context.output().shape;
  if (input[3] != weights[3] || output[3] != weights[0]) {
    return context.invalid("weights " + shape_text(weights) + " do not fit input " + shape_text(input) +
                           " and output " + shape_text(output));
  }
  LOWTIDE_RETURN_IF_ERROR(check_float_bias(context, how.bias, output[3]));
  constexpr std::int64_t kMost = std::int64_t{1} << 16;
  if (std::min(how.row_stride, how.column_stride) < 1 ||
      std::max({how.row_stride, how.column_stride, weights[1], weights[2], input[1], input[2], output[1], output[2]}) >
          kMost) {
    return context.invalid("its strides or its extents are out of range");
  }
  const auto axis = [&](std::size_t at, std::int64_t stride) {
    const std::int64_t before = transposed_padding(how.is_same, output[at], weights[at], stride);
    return ConvolvedAxis{
        .input = input[at], .output = output[at], .window = {.taps = weights[at], .stride = stride, .before = before}};
  };
  return call_transposed(context, {.batches = input[0],
                                   .rows = axis(1, how.row_stride),
                                   .columns = axis(2, how.column_stride),
                                   .input = how.input,
                                   .bias = how.bias});
}

Result<void> add_float_transpose_conv(OperatorContext& context) {
  const std::string_view padding = context.name_option("padding");
  if (padding != "SAME" && padding != "VALID") return context.invalid("its padding is neither SAME nor VALID");
  return add_transposed(context, {.row_stride = context.option("stride_h"),
                                  .column_stride = context.option("stride_w"),
                                  .is_same = padding == "SAME"});
}

// An operator of MediaPipe. Its options are three integers: 1 for SAME or 2 for VALID, and the strides of columns and
// rows.
Result<void> add_transpose_bias(OperatorContext& context) {
  const std::string_view options = context.custom_options();
  std::array<std::int32_t, 3> numbers = {};
  if (options.size() < sizeof(numbers)) return context.invalid("its options have fewer than 12 bytes");
  std::ranges::copy(options.substr(0, sizeof(numbers)), reinterpret_cast<char*>(numbers.data()));
  if (numbers[0] != 1 && numbers[0] != 2) return context.invalid("its padding is neither SAME nor VALID");
  return add_transposed(
      context,
      {.input = 0, .bias = 2, .row_stride = numbers[2], .column_stride = numbers[1], .is_same = numbers[0] == 1});
}

}  // namespace

std::vector<OperatorRow> float_convolution_rows() {
  return {{"CONV_2D", 2, 1, &add_float_convolution, {float32}},
          {"Convolution2DTransposeBias", 3, 1, &add_transpose_bias, {float32}, 0, true},
          {"DEPTHWISE_CONV_2D", 2, 1, &add_float_depthwise, {float32}},
          {"FULLY_CONNECTED", 2, 1, &add_float_fully_connected, {float32}},
          {"TRANSPOSE_CONV", 3, 1, &add_float_transpose_conv, {float32}, 2}};
}

}  // namespace lowtide::tflite_program_internal
