// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"
#include "lowtide/tflite/tflite_program/window.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

Result<void> add_pool(OperatorContext& context, std::string_view kernel) {
  const TfliteTensor& from = context.input(0);
  const TfliteTensor& to = context.output();
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{int8}, int8}}));
  LOWTIDE_RETURN_IF_ERROR(context.check_quantized({&from, &to}));
  if (std::abs(scale_of(from) - scale_of(to)) > 1e-6 || zero_point_of(from) != zero_point_of(to)) {
    return context.invalid("its input and its output have different scales or zero points");
  }
  const Shape& input = from.shape;
  const Shape& output = to.shape;
  if (input.size() != 4 || output.size() != 4 || elements_of(input) == 0 || input[0] != output[0] ||
      input[3] != output[3]) {
    return context.invalid("output " + shape_text(output) + " does not fit input " + shape_text(input));
  }
  LOWTIDE_TRY(const Window window, window_of(context, context.option("filter_height"), context.option("filter_width")));
  constexpr std::int64_t kMostTaps = std::int64_t{1} << 23;  // sums of these have 32 bits
  if (std::min(window.rows.taps, input[1]) * std::min(window.columns.taps, input[2]) > kMostTaps) {
    return context.invalid("its window covers more than " + std::to_string(kMostTaps) + " elements of its input");
  }
  LOWTIDE_TRY(const Range range, context.activation_range(to));
  context.call(
      kernel,
      {parameter("batches", input[0]), parameter("input_rows", input[1]), parameter("input_columns", input[2]),
       parameter("channels", input[3]), parameter("output_rows", output[1]), parameter("output_columns", output[2]),
       parameter("window_rows", window.rows.taps), parameter("window_columns", window.columns.taps),
       parameter("row_stride", window.rows.stride), parameter("column_stride", window.columns.stride),
       parameter("top", window.rows.before), parameter("left", window.columns.before),
       parameter("lowest", range.lowest), parameter("highest", range.highest)},
      {context.in(0), context.out()});
  return {};
}

Result<void> add_average_pool(OperatorContext& context) { return add_pool(context, "average_pool_2d_i8"); }
Result<void> add_max_pool(OperatorContext& context) { return add_pool(context, "max_pool_2d_i8"); }

}  // namespace

std::vector<OperatorRow> pool_rows() {
  return {{"AVERAGE_POOL_2D", 1, 1, &add_average_pool}, {"MAX_POOL_2D", 1, 1, &add_max_pool}};
}

}  // namespace lowtide::tflite_program_internal
