// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"
#include "lowtide/tflite/tflite_program/float_activation.h"
#include "lowtide/tflite/tflite_program/window.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

Result<void> add_float_pool(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{float32}, float32}}));
  const Shape& input = context.input(0).shape;
  const Shape& output = context.output().shape;
  if (input.size() != 4 || output.size() != 4 || elements_of(input) == 0 || input[0] != output[0] ||
      input[3] != output[3]) {
    return context.invalid("output " + shape_text(output) + " does not fit input " + shape_text(input));
  }
  LOWTIDE_TRY(const Window window, window_of(context, context.option("filter_height"), context.option("filter_width")));
  LOWTIDE_TRY(const FloatLimits limits, float_limits(context));
  std::vector<CParameter> parameters = {parameter("batches", input[0]),
                                        parameter("input_rows", input[1]),
                                        parameter("input_columns", input[2]),
                                        parameter("channels", input[3]),
                                        parameter("output_rows", output[1]),
                                        parameter("output_columns", output[2]),
                                        parameter("window_rows", window.rows.taps),
                                        parameter("window_columns", window.columns.taps),
                                        parameter("row_stride", window.rows.stride),
                                        parameter("column_stride", window.columns.stride),
                                        parameter("top", window.rows.before),
                                        parameter("left", window.columns.before)};
  append_limits(limits, parameters);
  context.call(context.type() == "MAX_POOL_2D" ? "max_pool_2d_nhwc_f32" : "average_pool_2d_nhwc_f32",
               std::move(parameters), {context.in(0), context.out()});
  return {};
}

// For each place of an output: two places of the input, and the share of the second one.
struct LinearTables {
  std::vector<std::int32_t> places;
  std::vector<float> shares;
};

// In floating point as in the runtime.
LinearTables linear_tables(const OperatorContext& context, std::size_t axis) {
  const std::int64_t input = context.input(0).shape[axis];
  const std::int64_t output = context.output().shape[axis];
  const bool aligns = context.option("align_corners") != 0 && output > 1;
  const float scale = aligns ? static_cast<float>(input - 1) / static_cast<float>(output - 1)
                             : static_cast<float>(input) / static_cast<float>(output);
  LinearTables tables;
  std::vector<std::int32_t> second;
  for (std::int64_t at = 0; at < output; ++at) {
    const float place = context.option("half_pixel_centers") != 0 ? (static_cast<float>(at) + 0.5F) * scale - 0.5F
                                                                  : static_cast<float>(at) * scale;
    const auto below = static_cast<std::int64_t>(std::floor(place));
    tables.places.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(below, 0, input - 1)));
    second.push_back(static_cast<std::int32_t>(std::min(static_cast<std::int64_t>(std::ceil(place)), input - 1)));
    tables.shares.push_back(place - static_cast<float>(tables.places.back()));
  }
  tables.places.insert(tables.places.end(), second.begin(), second.end());
  return tables;
}

Result<void> add_float_bilinear(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{float32, int32}, float32}}));
  const Shape& input = context.input(0).shape;
  const Shape& output = context.output().shape;
  LOWTIDE_TRY(const std::vector<std::int64_t> extents, context.integers(1));
  const bool fits = input.size() == 4 && output.size() == 4 && extents.size() == 2 && elements_of(input) > 0 &&
                    elements_of(output) > 0 && input[0] == output[0] && input[3] == output[3] &&
                    extents[0] == output[1] && extents[1] == output[2];
  if (!fits) return context.invalid("output " + shape_text(output) + " does not fit input " + shape_text(input));
  if (context.option("align_corners") != 0 && context.option("half_pixel_centers") != 0) {
    return context.invalid("it has both align_corners and half_pixel_centers");
  }
  const LinearTables rows = linear_tables(context, 1);
  const LinearTables columns = linear_tables(context, 2);
  const COperand row_places = context.constant("rows", rows.places);
  const COperand row_shares = context.constant("shares of rows", rows.shares);
  const COperand column_places = context.constant("columns", columns.places);
  const COperand column_shares = context.constant("shares of columns", columns.shares);
  context.call(
      "resize_bilinear_nhwc_f32",
      {parameter("batches", input[0]), parameter("input_rows", input[1]), parameter("input_columns", input[2]),
       parameter("channels", input[3]), parameter("output_rows", output[1]), parameter("output_columns", output[2])},
      {context.in(0), row_places, row_shares, column_places, column_shares, context.out()});
  return {};
}

}  // namespace

std::vector<OperatorRow> float_window_rows() {
  return {{"AVERAGE_POOL_2D", 1, 1, &add_float_pool, {float32}},
          {"MAX_POOL_2D", 1, 1, &add_float_pool, {float32}},
          {"RESIZE_BILINEAR", 2, 1, &add_float_bilinear, {float32}}};
}

}  // namespace lowtide::tflite_program_internal
