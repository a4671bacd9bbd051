// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

// Operators on each element alone. An input of 8 bits has 256 values, so the results are in a table.

// What an operator makes of a number of 8 bits. Results outside of the type of the output saturate.
using Function = std::function<std::int32_t(std::int32_t)>;

Result<void> check_elements(const OperatorContext& context) {
  const Shape& input = context.input(0).shape;
  if (elements_of(input) == elements_of(context.output().shape)) return {};
  return context.invalid("input " + shape_text(input) + " and output " + shape_text(context.output().shape) +
                         " have different numbers of elements");
}

Result<void> check_unary(const OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{int8}, int8}}));
  LOWTIDE_RETURN_IF_ERROR(context.check_quantized({&context.input(0), &context.output()}));
  return check_elements(context);
}

void add_table(OperatorContext& context, const Function& function) {
  std::vector<std::int8_t> table;
  for (int byte = 0; byte < 256; ++byte) {
    // Bytes from 128 on are negative numbers if the type has a sign.
    const bool is_negative = context.input(0).type == int8 && byte >= 128;
    const std::int32_t result = function(is_negative ? byte - 256 : byte);
    const bool has_sign = context.output().type == int8;
    table.push_back(static_cast<std::int8_t>(has_sign ? std::clamp(result, -128, 127) : std::clamp(result, 0, 255)));
  }
  COperand entries = context.constant("table", table);
  context.call("lookup_8", {parameter("count", elements_of(context.input(0).shape))},
               {context.in(0), entries, context.out()});
}

// The factor from the scale of the input, times another one, to that of the output.
Result<QuantizedMultiplier> rescaling(const OperatorContext& context, double by = 1) {
  return context.multiplier(double{scale_of(context.input(0))} * by / double{scale_of(context.output())});
}

Result<void> add_relu(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(check_unary(context));
  LOWTIDE_TRY(const QuantizedMultiplier by, rescaling(context));
  const std::int32_t zero = zero_point_of(context.output());
  add_table(context, [&](std::int32_t x) {
    return std::max(wrapping_sum(scaled(x - zero_point_of(context.input(0)), by), zero), zero);
  });
  return {};
}

// The runtime takes the output to have the scale of the input.
Result<void> add_relu6(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(check_unary(context));
  const TfliteTensor& from = context.input(0);
  const float steps = std::round(6.0F / scale_of(from));
  const std::int32_t zero = zero_point_of(from);
  const std::int32_t six = steps < 256 ? std::min(zero + static_cast<std::int32_t>(steps), 127) : 127;
  add_table(context, [&](std::int32_t x) { return std::min(std::max(x, zero), six); });
  return {};
}

Result<void> add_leaky_relu(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(check_unary(context));
  LOWTIDE_TRY(const QuantizedMultiplier by, rescaling(context));
  const auto alpha = static_cast<float>(context.real_option("alpha"));
  LOWTIDE_TRY(const QuantizedMultiplier below, rescaling(context, std::abs(alpha)));
  add_table(context, [&](std::int32_t x) {
    const std::int32_t above_zero = x - zero_point_of(context.input(0));
    const std::int32_t zero = zero_point_of(context.output());
    if (above_zero >= 0) return wrapping_sum(scaled(above_zero, by), zero);
    const std::int32_t part = scaled(above_zero, below);
    return wrapping_sum(alpha < 0 ? wrapping_sum(~part, 1) : part, zero);  // -part may need another bit
  });
  return {};
}

// LOGISTIC and TANH: `function` is one of 4 integer bits, and its result has none. `bits` are those behind the point of
// the output.
Result<void> add_sigmoid(OperatorContext& context, std::int32_t (*function)(std::int32_t), int bits,
                         std::int32_t zero) {
  LOWTIDE_TRY(const QuantizedMultiplier by, context.multiplier(double{scale_of(context.input(0))} * (1 << 27)));
  // Inputs outside of 4 integer bits are taken to be infinite.
  const auto radius = static_cast<std::int64_t>(std::floor(15 * std::ldexp(1.0, 27 - by.shift)));
  add_table(context, [&](std::int32_t x) {
    const std::int32_t above_zero = x - zero_point_of(context.input(0));
    if (above_zero <= -radius) return -128;
    if (above_zero >= radius) return 127;
    return rounded_shift(function(scaled(above_zero, by)), 31 - bits) + zero;
  });
  return {};
}

Result<void> add_logistic(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(check_unary(context));
  if (zero_point_of(context.output()) != -128) return context.invalid("its output needs zero point -128");
  return add_sigmoid(context, &fixed_logistic, 8, -128);
}

Result<void> add_tanh(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(check_unary(context));
  return add_sigmoid(context, &fixed_tanh, 7, 0);
}

// Arithmetic of 16 bits, for HARD_SWISH.
std::int32_t saturated16(std::int64_t x) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(x, -32768, 32767));
}
std::int32_t high_product16(std::int32_t a, std::int32_t b) {
  return saturated16((std::int64_t{a} * b + (1 << 14)) >> 15);
}
std::int32_t multiplier16(std::int32_t multiplier) { return saturated16((std::int64_t{multiplier} + (1 << 15)) >> 16); }

// x * min(max(x + 3, 0), 6) / 6, as a product of x and of a number from 0 to 1.
Result<void> add_hard_swish(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(check_unary(context));
  const float fine_scale = 1.0F / 128.0F * scale_of(context.input(0));
  LOWTIDE_TRY(const QuantizedMultiplier output, context.multiplier(fine_scale / scale_of(context.output())));
  LOWTIDE_TRY(const QuantizedMultiplier gate, context.multiplier(fine_scale / (3.0F / 32768.0F)));
  if (output.shift > 0 || output.shift < -15) return context.invalid("the scale of its output does not fit its input");
  if (gate.shift > 15 || gate.shift < -15) return context.invalid("the scale of its input is out of range");
  add_table(context, [&](std::int32_t x) {
    const std::int32_t fine = (x - zero_point_of(context.input(0))) * 128;
    const std::int32_t raised = high_product16(fine, multiplier16(output.multiplier));
    std::int32_t part = fine;
    if (gate.shift > 0) part = saturated16(std::int64_t{part} << (gate.shift - 1));
    part = high_product16(part, multiplier16(gate.multiplier));
    if (gate.shift > 0) part = saturated16(std::int64_t{part} * 2);
    if (gate.shift < 0) part = rounded_shift(part, -gate.shift);
    part = (part + (1 << 15)) >> 1;
    const std::int32_t product = part * raised / (1 << 15);
    return rounded_shift(product, -output.shift) + zero_point_of(context.output());
  });
  return {};
}

// An operator that the runtime computes with floats.
Result<void> add_real_table(OperatorContext& context, float (*function)(float)) {
  const TfliteTensor& from = context.input(0);
  const float inverse = 1 / scale_of(context.output());
  if (!std::isfinite(inverse)) {
    return context.invalid("the scale of its output is too small to divide by; quantize the model again");
  }
  add_table(context, [&](std::int32_t x) {
    const float real = scale_of(from) * static_cast<float>(x - zero_point_of(from));
    const float steps = std::round(function(real) * inverse) + static_cast<float>(zero_point_of(context.output()));
    return static_cast<std::int32_t>(std::clamp(steps, -128.0F, 127.0F));
  });
  return {};
}

Result<void> add_elu(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(check_unary(context));
  return add_real_table(context, [](float x) { return x < 0.0F ? std::exp(x) - 1.0F : x; });
}

Result<void> add_abs(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(check_unary(context));
  LOWTIDE_TRY(const QuantizedMultiplier by, rescaling(context));
  const bool is_rescaled = scale_of(context.input(0)) != scale_of(context.output());
  add_table(context, [&](std::int32_t x) {
    const std::int32_t magnitude = std::abs(x - zero_point_of(context.input(0)));
    return wrapping_sum(is_rescaled ? scaled(magnitude, by) : magnitude, zero_point_of(context.output()));
  });
  return {};
}

Result<void> add_requantization(OperatorContext& context) {
  const TfliteTensor& from = context.input(0);
  const TfliteTensor& to = context.output();
  LOWTIDE_RETURN_IF_ERROR(context.check_quantized({&from, &to}));
  LOWTIDE_TRY(const QuantizedMultiplier by, rescaling(context));
  const auto function = [&](std::int32_t x) {
    return wrapping_sum(scaled(x - zero_point_of(from), by), zero_point_of(to));
  };
  if (bits_of(from.type) == 8 && bits_of(to.type) == 8) {
    add_table(context, function);
    return {};
  }
  const std::int64_t count = elements_of(from.shape);
  if (from.type == int8) {
    std::vector<std::int16_t> table;
    for (std::int32_t x = -128; x < 128; ++x) table.push_back(static_cast<std::int16_t>(saturated16(function(x))));
    COperand entries = context.constant("table", table);
    context.call("lookup_i8_i16", {parameter("count", count)}, {context.in(0), entries, context.out()});
    return {};
  }
  const std::string_view kernel = to.type == int8    ? "requantize_i16_i8"
                                  : to.type == int16 ? "requantize_i16_i16"
                                                     : "requantize_i16_i32";
  context.call(kernel,
               {parameter("count", count), parameter("input_zero_point", zero_point_of(from)),
                parameter("output_zero_point", zero_point_of(to)), parameter("multiplier", by.multiplier),
                parameter("shift", by.shift)},
               {context.in(0), context.out()});
  return {};
}

Result<void> add_quantize(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{float32}, int8},
                                               {{int8}, int8},
                                               {{int8}, int16},
                                               {{int8}, uint8},
                                               {{uint8}, int8},
                                               {{int16}, int8},
                                               {{int16}, int16},
                                               {{int16}, int32}}));
  LOWTIDE_RETURN_IF_ERROR(check_elements(context));
  if (context.input(0).type != float32) return add_requantization(context);
  const TfliteTensor& to = context.output();
  LOWTIDE_RETURN_IF_ERROR(context.check_quantized({&to}));
  context.call("quantize_f32_i8",
               {parameter("count", elements_of(to.shape)), CParameter{"scale", scale_of(to)},
                parameter("zero_point", zero_point_of(to))},
               {context.in(0), context.out()});
  return {};
}

Result<void> add_dequantize(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{int8}, float32}}));
  LOWTIDE_RETURN_IF_ERROR(check_elements(context));
  const TfliteTensor& from = context.input(0);
  LOWTIDE_RETURN_IF_ERROR(context.check_quantized({&from}));
  context.call("dequantize_i8_f32",
               {parameter("count", elements_of(from.shape)), CParameter{"scale", scale_of(from)},
                parameter("zero_point", zero_point_of(from))},
               {context.in(0), context.out()});
  return {};
}

}  // namespace

std::vector<OperatorRow> lookup_rows() {
  return {{"ABS", 1, 1, &add_abs},
          {"DEQUANTIZE", 1, 1, &add_dequantize},
          {"ELU", 1, 1, &add_elu},
          {"HARD_SWISH", 1, 1, &add_hard_swish},
          {"LEAKY_RELU", 1, 1, &add_leaky_relu},
          {"LOGISTIC", 1, 1, &add_logistic},
          {"QUANTIZE", 1, 1, &add_quantize, {float32, uint8, int16, int8}},
          {"RELU", 1, 1, &add_relu},
          {"RELU6", 1, 1, &add_relu6},
          {"TANH", 1, 1, &add_tanh}};
}

}  // namespace lowtide::tflite_program_internal
