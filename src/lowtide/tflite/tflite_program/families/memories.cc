// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

// The inputs of SVDF.
constexpr std::size_t kWeights = 1;
constexpr std::size_t kTimeWeights = 2;
constexpr std::size_t kBias = 3;
constexpr std::size_t kState = 4;

Result<void> check_shapes(const OperatorContext& context, std::int64_t rank) {
  const Shape& input = context.input(0).shape;
  const Shape& weights = context.input(kWeights).shape;
  const Shape& times = context.input(kTimeWeights).shape;
  const Shape& state = context.input(kState).shape;
  const bool has_axes = input.size() == 2 && weights.size() == 2 && times.size() == 2 && elements_of(input) > 0 &&
                        elements_of(weights) > 0 && elements_of(times) > 0;
  const bool fits = has_axes && rank > 0 && weights[0] % rank == 0 && weights[1] == input[1] &&
                    times[0] == weights[0] && elements_of(state) == input[0] * weights[0] * times[1] &&
                    elements_of(context.output().shape) == input[0] * weights[0] / rank;
  if (fits) return {};
  return context.invalid("input " + shape_text(input) + ", weights " + shape_text(weights) + " and " +
                         shape_text(times) + " and state " + shape_text(state) + " do not fit together");
}

Result<void> check_svdf(const OperatorContext& context, std::int64_t rank) {
  if (!context.has_input(kState)) return context.invalid("its state, input 4, is missing");
  if (!context.input(kState).is_variable) {
    return context.invalid(
        "its state, input 4, is not a variable tensor, so it would not keep its content between runs");
  }
  LOWTIDE_RETURN_IF_ERROR(check_shapes(context, rank));
  LOWTIDE_RETURN_IF_ERROR(context.check_products(context.input(kWeights).shape[1]));
  const std::int64_t units = context.input(kWeights).shape[0] / rank;
  if (context.has_input(kBias) &&
      (context.input(kBias).type != int32 || elements_of(context.input(kBias).shape) != units)) {
    return context.invalid("its bias is not one INT32 per unit");
  }
  const TfliteType type = context.input(kState).type;
  if (context.input(0).type != int8 || context.input(kWeights).type != int8 || context.output().type != int8 ||
      context.input(kTimeWeights).type != type || (type != int8 && type != int16)) {
    return context.unsupported(
        "supported are an input, weights and output of INT8, with weights of time and a state that both are INT8 or "
        "INT16");
  }
  return context.check_quantized({&context.input(0), &context.input(kWeights), &context.input(kTimeWeights),
                                  &context.input(kState), &context.output()});
}

Result<void> add_svdf(OperatorContext& context) {
  const std::int64_t rank = context.option("rank");
  LOWTIDE_RETURN_IF_ERROR(check_svdf(context, rank));
  const auto scale = [&](std::size_t input) { return double{scale_of(context.input(input))}; };
  const double state_factor = scale(0) * scale(kWeights) / scale(kState);
  const double factor = scale(kState) * scale(kTimeWeights) / double{scale_of(context.output())};
  LOWTIDE_TRY(const QuantizedMultiplier state_by, context.multiplier(state_factor));
  LOWTIDE_TRY(const QuantizedMultiplier by, context.multiplier(factor));
  const Shape& weights = context.input(kWeights).shape;
  context.call(context.input(kState).type == int16 ? "svdf_i8_i16" : "svdf_i8",
               {parameter("batches", context.input(0).shape[0]), parameter("inputs", weights[1]),
                parameter("units", weights[0] / rank), parameter("rank", rank),
                parameter("memory", context.input(kTimeWeights).shape[1]),
                parameter("input_zero_point", zero_point_of(context.input(0))),
                parameter("state_zero_point", zero_point_of(context.input(kState))),
                parameter("output_zero_point", zero_point_of(context.output())),
                parameter("state_multiplier", state_by.multiplier), parameter("state_shift", state_by.shift),
                parameter("multiplier", by.multiplier), parameter("shift", by.shift)},
               {context.in(0), context.in(kWeights), context.in(kTimeWeights), context.in(kBias), context.in(kState),
                context.out()});
  return {};
}

}  // namespace

std::vector<OperatorRow> memory_rows() { return {{"SVDF", 3, 1, &add_svdf}}; }

}  // namespace lowtide::tflite_program_internal
