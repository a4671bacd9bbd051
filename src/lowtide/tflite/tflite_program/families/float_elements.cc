// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"
#include "lowtide/tflite/tflite_program/float_activation.h"
#include "lowtide/tflite/tflite_program/repetition.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

// Operators on each element alone, and the kernels that compute them.
struct Element {
  std::string_view type;
  std::string_view kernel;
};
constexpr auto kUnary = std::to_array<Element>({{"ABS", "abs_f32"},
                                                {"CEIL", "ceil_f32"},
                                                {"COS", "cos_f32"},
                                                {"EXP", "exp_f32"},
                                                {"FLOOR", "floor_f32"},
                                                {"HARD_SWISH", "hard_swish_f32"},
                                                {"LOG", "log_f32"},
                                                {"LOGISTIC", "sigmoid_f32"},
                                                {"NEG", "neg_f32"},
                                                {"RELU", "relu_f32"},
                                                {"ROUND", "round_f32"},
                                                {"RSQRT", "rsqrt_f32"},
                                                {"SIN", "sin_f32"},
                                                {"SQRT", "sqrt_f32"},
                                                {"SQUARE", "square_f32"},
                                                {"TANH", "tanh_f32"}});
constexpr auto kBinary = std::to_array<Element>({{"ADD", "add_f32"},
                                                 {"DIV", "divide_f32"},
                                                 {"MAXIMUM", "maximum_f32"},
                                                 {"MINIMUM", "minimum_f32"},
                                                 {"MUL", "multiply_f32"},
                                                 {"POW", "power_f32"},
                                                 {"PRELU", "prelu_f32"},
                                                 {"SQUARED_DIFFERENCE", "squared_difference_f32"},
                                                 {"SUB", "subtract_f32"}});

Result<void> check_float_elements(const OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{float32}, float32}}));
  const Shape& input = context.input(0).shape;
  const Shape& output = context.output().shape;
  if (elements_of(input) == elements_of(output)) return {};
  return context.invalid("input " + shape_text(input) + " and output " + shape_text(output) +
                         " have different numbers of elements");
}

// A call with numbers that the kernel calls a and b.
Result<void> call_unary(OperatorContext& context, std::string_view kernel, const std::vector<float>& numbers) {
  LOWTIDE_RETURN_IF_ERROR(check_float_elements(context));
  std::vector<CParameter> parameters = {parameter("count", elements_of(context.output().shape))};
  for (const float number : numbers) parameters.push_back({parameters.size() == 1 ? "a" : "b", number});
  context.call(kernel, std::move(parameters), {context.in(0), context.out()});
  return {};
}

Result<void> add_float_unary(OperatorContext& context) {
  return call_unary(context, std::ranges::find(kUnary, context.type(), &Element::type)->kernel, {});
}

Result<void> add_float_elu(OperatorContext& context) { return call_unary(context, "elu_f32", {1}); }

Result<void> add_float_leaky_relu(OperatorContext& context) {
  return call_unary(context, "leaky_relu_f32", {static_cast<float>(context.real_option("alpha"))});
}

Result<void> add_float_gelu(OperatorContext& context) {
  return call_unary(context, context.option("approximate") != 0 ? "gelu_tanh_f32" : "gelu_f32", {});
}

Result<void> add_float_range(OperatorContext& context) {
  const float lowest = context.type() == "RELU_N1_TO_1" ? -1.0F : 0.0F;
  return call_unary(context, "clip_f32", {lowest, context.type() == "RELU6" ? 6.0F : 1.0F});
}

// An operand that has no elements leaves nothing to compute.
Result<void> call_binary(OperatorContext& context, std::string_view kernel) {
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{float32, float32}, float32}}));
  LOWTIDE_TRY(const Repetition repetition, repetition_of(context));
  context.call(kernel,
               {parameter("counts", repetition.counts), parameter("x_steps", repetition.first_steps),
                parameter("y_steps", repetition.second_steps)},
               {context.in(0), context.in(1), context.out()});
  return {};
}

Result<void> add_float_binary(OperatorContext& context) {
  LOWTIDE_TRY(const FloatLimits limits, float_limits(context));
  LOWTIDE_RETURN_IF_ERROR(call_binary(context, std::ranges::find(kBinary, context.type(), &Element::type)->kernel));
  add_limits(context, limits);
  return {};
}

}  // namespace

std::vector<OperatorRow> float_element_rows() {
  std::vector<OperatorRow> rows = {{"ELU", 1, 1, &add_float_elu, {float32}},
                                   {"GELU", 1, 1, &add_float_gelu, {float32}},
                                   {"LEAKY_RELU", 1, 1, &add_float_leaky_relu, {float32}},
                                   {"RELU6", 1, 1, &add_float_range, {float32}},
                                   {"RELU_0_TO_1", 1, 1, &add_float_range, {float32}},
                                   {"RELU_N1_TO_1", 1, 1, &add_float_range, {float32}}};
  for (const Element& one : kUnary) rows.push_back({one.type, 1, 1, &add_float_unary, {float32}});
  for (const Element& one : kBinary) rows.push_back({one.type, 2, 1, &add_float_binary, {float32}});
  return rows;
}

}  // namespace lowtide::tflite_program_internal
