// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"
#include "lowtide/tflite/tflite_program/float_activation.h"
#include "lowtide/tflite/tflite_program/reduction.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

// A kernel has three kept axes and two reduced ones, which alternate.
Result<void> add_float_reduction(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{float32, int32}, float32}, {{float32, int64}, float32}}));
  LOWTIDE_TRY(const Reduction reduction, reduction_of(context));
  const auto& [kept, reduced, elements] = reduction;
  if (reduced.counts[0] != 1) return context.unsupported("its axes alternate too often");
  const std::string_view kernel = context.type() == "MEAN"         ? "reduce_mean_f32"
                                  : context.type() == "SUM"        ? "reduce_sum_f32"
                                  : context.type() == "REDUCE_MAX" ? "reduce_max_f32"
                                  : context.type() == "REDUCE_MIN" ? "reduce_min_f32"
                                                                   : "reduce_product_f32";
  context.call(
      kernel,
      {parameter("counts", {kept.counts[0], reduced.counts[1], kept.counts[1], reduced.counts[2], kept.counts[2]}),
       parameter("steps", {kept.steps[0], reduced.steps[1], kept.steps[1], reduced.steps[2], kept.steps[2]})},
      {context.in(0), context.out()});
  return {};
}

// Operators on rows, which are along the last axis.
Result<std::int64_t> row_of_floats(const OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{float32}, float32}}));
  const Shape& input = context.input(0).shape;
  const Shape& output = context.output().shape;
  if (input.empty() || input != output || input.back() < 1) {
    return context.invalid("output " + shape_text(output) + " does not fit input " + shape_text(input));
  }
  return input.back();
}

void call_rows(OperatorContext& context, std::string_view kernel, std::int64_t row, const COperand& from) {
  context.call(
      kernel,
      {parameter("outer", elements_of(context.output().shape) / row), parameter("axis", row), parameter("inner", 1)},
      {from, context.out()});
}

Result<void> add_float_softmax(OperatorContext& context) {
  LOWTIDE_TRY(const std::int64_t row, row_of_floats(context));
  const auto beta = static_cast<float>(context.real_option("beta"));
  if (beta == 1.0F) {
    call_rows(context, "softmax_f32", row, context.in(0));
    return {};
  }
  context.call("affine_f32",
               {parameter("count", elements_of(context.output().shape)), CParameter{"a", beta}, CParameter{"b", 0.0F}},
               {context.in(0), context.out()});
  call_rows(context, "softmax_f32", row, context.out());
  return {};
}

Result<void> add_float_log_softmax(OperatorContext& context) {
  LOWTIDE_TRY(const std::int64_t row, row_of_floats(context));
  call_rows(context, "log_softmax_f32", row, context.in(0));
  return {};
}

Result<void> add_float_l2_normalization(OperatorContext& context) {
  LOWTIDE_TRY(const std::int64_t row, row_of_floats(context));
  LOWTIDE_TRY(const FloatLimits limits, float_limits(context));
  constexpr float kLeastLength = 1e-6F;  // of the runtime
  context.call("l2_normalize_f32",
               {parameter("rows", elements_of(context.output().shape) / row), parameter("row", row),
                CParameter{"least", kLeastLength}},
               {context.in(0), context.out()});
  add_limits(context, limits);
  return {};
}

}  // namespace

std::vector<OperatorRow> float_reduction_rows() {
  return {{"L2_NORMALIZATION", 1, 1, &add_float_l2_normalization, {float32}},
          {"LOG_SOFTMAX", 1, 1, &add_float_log_softmax, {float32}},
          {"MEAN", 2, 1, &add_float_reduction, {float32}},
          {"REDUCE_MAX", 2, 1, &add_float_reduction, {float32}},
          {"REDUCE_MIN", 2, 1, &add_float_reduction, {float32}},
          {"REDUCE_PROD", 2, 1, &add_float_reduction, {float32}},
          {"SOFTMAX", 1, 1, &add_float_softmax, {float32}},
          {"SUM", 2, 1, &add_float_reduction, {float32}}};
}

}  // namespace lowtide::tflite_program_internal
