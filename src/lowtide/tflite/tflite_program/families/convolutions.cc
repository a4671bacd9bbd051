// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"
#include "lowtide/tflite/tflite_program/window.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

// Which inputs of an operator are what.
struct Slots {
  std::size_t input = 0;
  std::size_t weights = 1;
  std::size_t bias = 2;
};

// What multiplies sums of products.
struct Scales {
  std::vector<std::int32_t> multipliers;
  std::vector<std::int32_t> shifts;
};

// The factor of each scale of the weights. A factor of one scale is a product of floats for FULLY_CONNECTED, and one of
// doubles otherwise, as in the runtime.
Result<Scales> scales_of(const OperatorContext& context, const Slots& slots, std::int64_t channels) {
  const TfliteTensor& weights = context.input(slots.weights);
  const auto& weight_scales = weights.quantization.scales;
  const std::int64_t count = static_cast<std::int64_t>(weight_scales.size());
  if (count != 1 && count != channels) {
    return context.invalid("its weights have " + std::to_string(count) + " scales for " + std::to_string(channels) +
                           " channels");
  }
  const bool is_rounded = context.type() == "FULLY_CONNECTED" && count == 1;
  const float input_scale = scale_of(context.input(slots.input));
  Scales scales;
  for (double stated : weight_scales) {
    const auto weight_scale = static_cast<float>(stated);
    const double product = is_rounded ? double{input_scale * weight_scale} : double{input_scale} * double{weight_scale};
    const double factor = product / double{scale_of(context.output())};
    if (!(factor >= 0)) return context.invalid("a scale of its weights is below 0 or no number");
    LOWTIDE_TRY(const QuantizedMultiplier by, context.multiplier(factor));
    scales.multipliers.push_back(by.multiplier);
    scales.shifts.push_back(by.shift);
  }
  return scales;
}

Result<void> check_bias(const OperatorContext& context, const Slots& slots, std::int64_t channels) {
  if (!context.has_input(slots.bias)) return {};
  const TfliteTensor& bias = context.input(slots.bias);
  if (bias.type != int32) {
    return context.unsupported("its bias has type " + std::string(to_string(bias.type)) + "; supported is INT32");
  }
  if (elements_of(bias.shape) != channels) {
    return context.invalid("its bias has " + std::to_string(elements_of(bias.shape)) + " elements for " +
                           std::to_string(channels) + " channels");
  }
  return {};
}

// What all products have: quantization, limits, multipliers.
struct Product {
  Range range;
  Scales scales;
};

Result<Product> product_of(const OperatorContext& context, const Slots& slots, std::int64_t channels) {
  const TfliteTensor& input = context.input(slots.input);
  if (input.type != int8 || context.input(slots.weights).type != int8 || context.output().type != int8) {
    return context.unsupported("its input, weights and output have types " + std::string(to_string(input.type)) + ", " +
                               std::string(to_string(context.input(slots.weights).type)) + " and " +
                               std::string(to_string(context.output().type)) + "; supported is INT8 for all of them");
  }
  LOWTIDE_RETURN_IF_ERROR(context.check_quantized({&input, &context.output()}));
  LOWTIDE_RETURN_IF_ERROR(check_bias(context, slots, channels));
  LOWTIDE_TRY(Scales scales, scales_of(context, slots, channels));
  LOWTIDE_TRY(const Range range, context.activation_range(context.output()));
  return Product{range, std::move(scales)};
}

void append_quantization(const OperatorContext& context, const Product& product, std::vector<CParameter>& to) {
  to.push_back(parameter("output_zero_point", zero_point_of(context.output())));
  to.push_back(parameter("lowest", product.range.lowest));
  to.push_back(parameter("highest", product.range.highest));
  to.push_back(parameter("per_channel", product.scales.shifts.size() > 1 ? 1 : 0));
}

std::vector<COperand> operands_of(OperatorContext& context, const Slots& slots, const Product& product) {
  COperand multipliers = context.constant("multipliers", product.scales.multipliers);
  COperand shifts = context.constant("shifts", product.scales.shifts);
  return {
      context.in(slots.input), context.in(slots.weights), context.in(slots.bias), multipliers, shifts, context.out()};
}

void append_window(const Window& window, std::vector<CParameter>& to) {
  to.push_back(parameter("window_rows", window.rows.taps));
  to.push_back(parameter("window_columns", window.columns.taps));
  to.push_back(parameter("row_stride", window.rows.stride));
  to.push_back(parameter("column_stride", window.columns.stride));
  to.push_back(parameter("row_dilation", window.rows.dilation));
  to.push_back(parameter("column_dilation", window.columns.dilation));
  to.push_back(parameter("top", window.rows.before));
  to.push_back(parameter("left", window.columns.before));
}

Result<void> check_images(const OperatorContext& context) {
  const Shape& input = context.input(0).shape;
  const Shape& weights = context.input(1).shape;
  const Shape& output = context.output().shape;
  if (input.size() != 4 || weights.size() != 4 || output.size() != 4) {
    return context.invalid("its input, weights and output need 4 axes each");
  }
  if (elements_of(input) == 0 || elements_of(weights) == 0 || input[0] != output[0]) {
    return context.invalid("input " + shape_text(input) + ", weights " + shape_text(weights) + " and output " +
                           shape_text(output) + " do not fit together");
  }
  return {};
}

Result<void> add_convolution(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(check_images(context));
  const Shape& input = context.input(0).shape;
  const Shape& weights = context.input(1).shape;
  const Shape& output = context.output().shape;
  const std::int64_t groups = input[3] / weights[3];
  if (input[3] % weights[3] != 0 || output[3] != weights[0] || output[3] % groups != 0) {
    return context.invalid("weights " + shape_text(weights) + " do not fit input " + shape_text(input) +
                           " and output " + shape_text(output));
  }
  LOWTIDE_RETURN_IF_ERROR(context.check_products(weights[2] * weights[3]));
  LOWTIDE_TRY(const Product product, product_of(context, {}, output[3]));
  LOWTIDE_TRY(const Window window, window_of(context, weights[1], weights[2]));
  std::vector<CParameter> parameters = {parameter("batches", input[0]),          parameter("input_rows", input[1]),
                                        parameter("input_columns", input[2]),    parameter("input_channels", input[3]),
                                        parameter("output_rows", output[1]),     parameter("output_columns", output[2]),
                                        parameter("output_channels", output[3]), parameter("groups", groups)};
  append_window(window, parameters);
  parameters.push_back(parameter("input_zero_point", zero_point_of(context.input(0))));
  append_quantization(context, product, parameters);
  context.call("conv_2d_i8", std::move(parameters), operands_of(context, {}, product));
  return {};
}

Result<void> add_depthwise(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(check_images(context));
  const Shape& input = context.input(0).shape;
  const Shape& weights = context.input(1).shape;
  const Shape& output = context.output().shape;
  if (weights[0] != 1 || output[3] != weights[3] || output[3] % input[3] != 0) {
    return context.invalid("weights " + shape_text(weights) + " do not fit input " + shape_text(input) +
                           " and output " + shape_text(output));
  }
  LOWTIDE_TRY(const Product product, product_of(context, {}, output[3]));
  LOWTIDE_TRY(const Window window, window_of(context, weights[1], weights[2]));
  std::vector<CParameter> parameters = {parameter("batches", input[0]),
                                        parameter("input_rows", input[1]),
                                        parameter("input_columns", input[2]),
                                        parameter("input_channels", input[3]),
                                        parameter("output_rows", output[1]),
                                        parameter("output_columns", output[2]),
                                        parameter("multiplier", output[3] / input[3])};
  append_window(window, parameters);
  parameters.push_back(parameter("input_zero_point", zero_point_of(context.input(0))));
  append_quantization(context, product, parameters);
  context.call("depthwise_conv_2d_i8", std::move(parameters), operands_of(context, {}, product));
  return {};
}

Result<void> add_fully_connected(OperatorContext& context) {
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
  LOWTIDE_TRY(const Product product, product_of(context, {}, weights[0]));
  const bool is_per_channel = product.scales.shifts.size() > 1;
  if (const auto fault = zero_point_fault(context.input(1)); fault && !is_per_channel) return context.invalid(*fault);
  std::vector<CParameter> parameters = {
      parameter("rows", rows), parameter("depth", weights[1]), parameter("units", weights[0]),
      parameter("input_zero_point", zero_point_of(context.input(0))),
      parameter("weights_zero_point", is_per_channel ? 0 : zero_point_of(context.input(1)))};
  append_quantization(context, product, parameters);
  context.call("fully_connected_i8", std::move(parameters), operands_of(context, {}, product));
  return {};
}

Result<void> add_transpose_conv(OperatorContext& context) {
  const Slots slots = {.input = 2, .weights = 1, .bias = 3};
  const Shape& input = context.input(2).shape;
  const Shape& weights = context.input(1).shape;
  const Shape& output = context.output().shape;
  const bool fits = input.size() == 4 && weights.size() == 4 && output.size() == 4 && elements_of(input) > 0 &&
                    elements_of(weights) > 0 && elements_of(output) > 0 && input[0] == output[0] &&
                    input[3] == weights[3] && output[3] == weights[0];
  if (!fits) {
    return context.invalid("weights " + shape_text(weights) + " do not fit input " + shape_text(input) +
                           " and output " + shape_text(output));
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 16;
  const std::int64_t row_stride = context.option("stride_h");
  const std::int64_t column_stride = context.option("stride_w");
  if (std::min(row_stride, column_stride) < 1 ||
      std::max({row_stride, column_stride, weights[1], weights[2], output[1], output[2]}) > kMost) {
    return context.invalid("its strides are " + std::to_string(row_stride) + " and " + std::to_string(column_stride) +
                           " with weights " + shape_text(weights) + " and output " + shape_text(output) +
                           "; strides and extents of images have to be from 1 to " + std::to_string(kMost));
  }
  LOWTIDE_RETURN_IF_ERROR(context.check_products(weights[3]));
  LOWTIDE_TRY(const Product product, product_of(context, slots, output[3]));
  const std::string_view padding = context.name_option("padding");
  if (padding != "SAME" && padding != "VALID") return context.invalid("its padding is neither SAME nor VALID");
  const bool is_same = padding == "SAME";
  std::vector<CParameter> parameters = {
      parameter("batches", input[0]),
      parameter("input_rows", input[1]),
      parameter("input_columns", input[2]),
      parameter("input_channels", input[3]),
      parameter("output_rows", output[1]),
      parameter("output_columns", output[2]),
      parameter("output_channels", output[3]),
      parameter("window_rows", weights[1]),
      parameter("window_columns", weights[2]),
      parameter("row_stride", row_stride),
      parameter("column_stride", column_stride),
      parameter("top", transposed_padding(is_same, output[1], weights[1], row_stride)),
      parameter("left", transposed_padding(is_same, output[2], weights[2], column_stride)),
      parameter("input_zero_point", zero_point_of(context.input(2)))};
  append_quantization(context, product, parameters);
  context.call("transpose_conv_i8", std::move(parameters), operands_of(context, slots, product));
  return {};
}

}  // namespace

std::vector<OperatorRow> convolution_rows() {
  return {{"CONV_2D", 2, 1, &add_convolution},
          {"DEPTHWISE_CONV_2D", 2, 1, &add_depthwise},
          {"FULLY_CONNECTED", 2, 1, &add_fully_connected},
          {"TRANSPOSE_CONV", 3, 1, &add_transpose_conv, {int8}, 2}};
}

}  // namespace lowtide::tflite_program_internal
