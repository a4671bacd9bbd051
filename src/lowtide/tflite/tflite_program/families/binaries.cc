// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"
#include "lowtide/tflite/tflite_program/repetition.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

constexpr int kLeftShift = 20;       // bits that operands of 8 bits get for a sum
constexpr int kSquareLeftShift = 7;  // for a square

// Parameters that all of these kernels begin with.
Result<std::vector<CParameter>> begin_binary(const OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{int8, int8}, int8}}));
  LOWTIDE_RETURN_IF_ERROR(context.check_quantized({&context.input(0), &context.input(1), &context.output()}));
  LOWTIDE_TRY(const Repetition repetition, repetition_of(context));
  return std::vector<CParameter>{parameter("counts", repetition.counts),
                                 parameter("first_steps", repetition.first_steps),
                                 parameter("second_steps", repetition.second_steps)};
}

void append(std::vector<CParameter>& to, std::initializer_list<CParameter> more) {
  to.insert(to.end(), more.begin(), more.end());
}

void append_zero_points(const OperatorContext& context, std::vector<CParameter>& to) {
  append(to, {parameter("first_zero_point", zero_point_of(context.input(0))),
              parameter("second_zero_point", zero_point_of(context.input(1))),
              parameter("output_zero_point", zero_point_of(context.output()))});
}

void finish(OperatorContext& context, std::string_view kernel, std::vector<CParameter> parameters) {
  context.call(kernel, std::move(parameters), {context.in(0), context.in(1), context.out()});
}

Result<void> add_sum(OperatorContext& context) {
  LOWTIDE_TRY(std::vector<CParameter> parameters, begin_binary(context));
  const double first_scale = scale_of(context.input(0));
  const double second_scale = scale_of(context.input(1));
  const double twice = 2 * std::max(first_scale, second_scale);
  const double factor = twice / ((1 << kLeftShift) * double{scale_of(context.output())});
  // The runtime refuses other factors.
  if (!(factor > 0 && factor < 1)) {
    return context.invalid("the scale of its output is too far from those of its operands; quantize the model again");
  }
  LOWTIDE_TRY(const QuantizedMultiplier first, context.multiplier(first_scale / twice));
  LOWTIDE_TRY(const QuantizedMultiplier second, context.multiplier(second_scale / twice));
  LOWTIDE_TRY(const QuantizedMultiplier output, context.multiplier(factor));
  LOWTIDE_TRY(const Range range, context.activation_range(context.output()));
  append_zero_points(context, parameters);
  append(parameters,
         {parameter("left_shift", kLeftShift), parameter("first_multiplier", first.multiplier),
          parameter("first_shift", first.shift), parameter("second_multiplier", second.multiplier),
          parameter("second_shift", second.shift), parameter("second_sign", context.type() == "SUB" ? -1 : 1),
          parameter("multiplier", output.multiplier), parameter("shift", output.shift),
          parameter("lowest", range.lowest), parameter("highest", range.highest)});
  finish(context, "add_i8", std::move(parameters));
  return {};
}

Result<void> add_squared_difference(OperatorContext& context) {
  LOWTIDE_TRY(std::vector<CParameter> parameters, begin_binary(context));
  const double first_scale = scale_of(context.input(0));
  const double second_scale = scale_of(context.input(1));
  const double twice = 2.0 * std::max(first_scale, second_scale);
  const double factor =
      twice * twice / double{static_cast<float>(1 << (2 * kSquareLeftShift)) * scale_of(context.output())};
  LOWTIDE_TRY(const QuantizedMultiplier first, context.multiplier(first_scale / twice));
  LOWTIDE_TRY(const QuantizedMultiplier second, context.multiplier(second_scale / twice));
  LOWTIDE_TRY(const QuantizedMultiplier output, context.multiplier(factor));
  append_zero_points(context, parameters);
  append(parameters, {parameter("left_shift", kSquareLeftShift), parameter("first_multiplier", first.multiplier),
                      parameter("first_shift", first.shift), parameter("second_multiplier", second.multiplier),
                      parameter("second_shift", second.shift), parameter("multiplier", output.multiplier),
                      parameter("shift", output.shift)});
  finish(context, "squared_difference_i8", std::move(parameters));
  return {};
}

Result<void> add_product(OperatorContext& context) {
  LOWTIDE_TRY(std::vector<CParameter> parameters, begin_binary(context));
  const double factor =
      double{scale_of(context.input(0))} * double{scale_of(context.input(1))} / double{scale_of(context.output())};
  LOWTIDE_TRY(const QuantizedMultiplier by, context.multiplier(factor));
  LOWTIDE_TRY(const Range range, context.activation_range(context.output()));
  append_zero_points(context, parameters);
  append(parameters, {parameter("multiplier", by.multiplier), parameter("shift", by.shift),
                      parameter("lowest", range.lowest), parameter("highest", range.highest)});
  finish(context, "mul_i8", std::move(parameters));
  return {};
}

Result<void> add_extreme(OperatorContext& context) {
  LOWTIDE_TRY(std::vector<CParameter> parameters, begin_binary(context));
  append(parameters, {parameter("sign", context.type() == "MAXIMUM" ? 1 : -1)});
  finish(context, "extreme_i8", std::move(parameters));
  return {};
}

Result<void> add_prelu(OperatorContext& context) {
  LOWTIDE_TRY(std::vector<CParameter> parameters, begin_binary(context));
  const double input_scale = scale_of(context.input(0));
  const double output_scale = scale_of(context.output());
  const double alpha_factor = input_scale * double{scale_of(context.input(1))} / output_scale;
  LOWTIDE_TRY(const QuantizedMultiplier by, context.multiplier(input_scale / output_scale));
  LOWTIDE_TRY(const QuantizedMultiplier alpha, context.multiplier(alpha_factor));
  parameters[1].name = "input_steps";
  parameters[2].name = "alpha_steps";
  append(parameters, {parameter("input_zero_point", zero_point_of(context.input(0))),
                      parameter("alpha_zero_point", zero_point_of(context.input(1))),
                      parameter("output_zero_point", zero_point_of(context.output())),
                      parameter("multiplier", by.multiplier), parameter("shift", by.shift),
                      parameter("alpha_multiplier", alpha.multiplier), parameter("alpha_shift", alpha.shift)});
  finish(context, "prelu_i8", std::move(parameters));
  return {};
}

}  // namespace

std::vector<OperatorRow> binary_rows() {
  return {{"ADD", 2, 1, &add_sum},         {"MAXIMUM", 2, 1, &add_extreme},
          {"MINIMUM", 2, 1, &add_extreme}, {"MUL", 2, 1, &add_product},
          {"PRELU", 2, 1, &add_prelu},     {"SQUARED_DIFFERENCE", 2, 1, &add_squared_difference},
          {"SUB", 2, 1, &add_sum}};
}

}  // namespace lowtide::tflite_program_internal
