// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cstddef>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"
#include "lowtide/tflite/tflite_program/reduction.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

std::vector<CParameter> parameters_of(const Reduction& reduction) {
  return {parameter("kept_counts", reduction.kept.counts), parameter("kept_steps", reduction.kept.steps),
          parameter("counts", reduction.reduced.counts), parameter("steps", reduction.reduced.steps)};
}

// A factor that also divides by a number of elements, as the runtime rounds it.
QuantizedMultiplier divided(QuantizedMultiplier by, std::int64_t elements) {
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(elements))) - 1;
  const int shift = std::min({bits, 32, 31 + by.shift});
  by.multiplier = static_cast<std::int32_t>((std::int64_t{by.multiplier} << shift) / elements);
  by.shift -= shift;
  return by;
}

Result<void> add_sum_of_axes(OperatorContext& context) {
  const TfliteTensor& from = context.input(0);
  const TfliteTensor& to = context.output();
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{int8}, int8}}));
  LOWTIDE_RETURN_IF_ERROR(context.check_quantized({&from, &to}));
  LOWTIDE_TRY(const Reduction reduction, reduction_of(context));
  const double factor = double{scale_of(from)} / double{scale_of(to)};
  constexpr std::int64_t kMost = std::int64_t{1} << 22;  // sums of these have 32 bits
  if (reduction.elements >= kMost) {
    return context.invalid("one result is of " + std::to_string(reduction.elements) + " elements; fewer than " +
                           std::to_string(kMost) + " are supported");
  }
  LOWTIDE_TRY(QuantizedMultiplier by, context.multiplier(factor));
  if (context.type() == "MEAN") by = divided(by, reduction.elements);
  std::vector<CParameter> parameters = parameters_of(reduction);
  parameters.push_back(parameter("zero_points", zero_point_of(from) * reduction.elements));
  parameters.push_back(parameter("output_zero_point", zero_point_of(to)));
  parameters.push_back(parameter("multiplier", by.multiplier));
  parameters.push_back(parameter("shift", by.shift));
  context.call("sum_i8", std::move(parameters), {context.in(0), context.out()});
  return {};
}

Result<void> add_extreme_of_axes(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{int8}, int8}}));
  LOWTIDE_RETURN_IF_ERROR(context.check_quantized({&context.input(0), &context.output()}));
  if (scale_of(context.input(0)) != scale_of(context.output()) ||
      zero_point_of(context.input(0)) != zero_point_of(context.output())) {
    return context.invalid("its input and its output have different scales or zero points");
  }
  LOWTIDE_TRY(const Reduction reduction, reduction_of(context));
  std::vector<CParameter> parameters = parameters_of(reduction);
  parameters.push_back(parameter("sign", context.type() == "REDUCE_MAX" ? 1 : -1));
  context.call("reduce_extreme_i8", std::move(parameters), {context.in(0), context.out()});
  return {};
}

}  // namespace

std::vector<OperatorRow> reduction_rows() {
  return {{"MEAN", 2, 1, &add_sum_of_axes},
          {"REDUCE_MAX", 2, 1, &add_extreme_of_axes},
          {"REDUCE_MIN", 2, 1, &add_extreme_of_axes},
          {"SUM", 2, 1, &add_sum_of_axes}};
}

}  // namespace lowtide::tflite_program_internal
