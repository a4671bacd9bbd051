// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"
#include "lowtide/tflite/tflite_program/movement.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

// How places of an output follow from those of an input.
struct Resize {
  std::int64_t input = 1;
  std::int64_t output = 1;
  bool aligns_corners = false;
  bool has_half_pixels = false;
};

Result<void> check_resize(const OperatorContext& context) {
  const Shape& input = context.input(0).shape;
  const Shape& output = context.output().shape;
  LOWTIDE_TRY(const std::vector<std::int64_t> extents, context.integers(1));
  constexpr std::int64_t kMost = std::int64_t{1} << 20;  // 10 more bits are behind the point
  const bool fits = input.size() == 4 && output.size() == 4 && extents.size() == 2 && elements_of(input) > 0 &&
                    elements_of(output) > 0 && input[0] == output[0] && input[3] == output[3] &&
                    extents[0] == output[1] && extents[1] == output[2] &&
                    std::max({input[1], input[2], output[1], output[2]}) < kMost;
  if (!fits) {
    return context.invalid("output " + shape_text(output) + " does not fit input " + shape_text(input));
  }
  return {};
}

Resize along(const OperatorContext& context, std::size_t axis) {
  return {.input = context.input(0).shape[axis],
          .output = context.output().shape[axis],
          .aligns_corners = context.option("align_corners") != 0,
          .has_half_pixels = context.option("half_pixel_centers") != 0};
}

// The place of the input for each place of the output, in floating point as in the runtime.
std::vector<std::int32_t> nearest(const Resize& resize) {
  const auto input = static_cast<float>(resize.input);
  const auto output = static_cast<float>(resize.output);
  const float scale = resize.aligns_corners && resize.output > 1 ? (input - 1) / (output - 1) : input / output;
  const float offset = resize.has_half_pixels ? 0.5F : 0.0F;
  std::vector<std::int32_t> places;
  for (std::int64_t at = 0; at < resize.output; ++at) {
    const float place = (static_cast<float>(at) + offset) * scale;
    const auto rounded = static_cast<std::int64_t>(resize.aligns_corners ? std::round(place) : std::floor(place));
    places.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(rounded, 0, resize.input - 1)));
  }
  return places;
}

// For each place of the output: two places of the input, and the weight of the second one out of 1024.
std::vector<std::int32_t> between(const Resize& resize) {
  constexpr std::int64_t kOne = 1024;
  std::int64_t scale = (kOne * resize.input + resize.output / 2) / resize.output;
  if (resize.aligns_corners && resize.output > 1) {
    scale = (kOne * (resize.input - 1) + (resize.output - 1) / 2) / (resize.output - 1);
  }
  std::vector<std::int32_t> table;
  for (std::int64_t at = 0; at < resize.output; ++at) {
    const std::int64_t place = at * scale + (resize.has_half_pixels ? scale / 2 - kOne / 2 : 0);
    const std::int64_t first = std::clamp<std::int64_t>(place / kOne, 0, resize.input - 1);
    const std::int64_t second = std::clamp<std::int64_t>((place + kOne - 1) / kOne, 0, resize.input - 1);
    for (std::int64_t one : {first, second, place - kOne * first}) table.push_back(static_cast<std::int32_t>(one));
  }
  return table;
}

std::vector<CParameter> extents_of(const OperatorContext& context) {
  const Shape& input = context.input(0).shape;
  const Shape& output = context.output().shape;
  return {parameter("batches", input[0]), parameter("input_rows", input[1]), parameter("input_columns", input[2]),
          parameter("output_rows", output[1]), parameter("output_columns", output[2])};
}

Result<void> add_nearest(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(check_resize(context));
  LOWTIDE_TRY(const std::int64_t bytes, element_bytes(context, context.input(0)));
  if (context.input(0).type != context.output().type)
    return context.invalid("its output has another type than its input");
  COperand rows = context.constant("rows", nearest(along(context, 1)));
  COperand columns = context.constant("columns", nearest(along(context, 2)));
  std::vector<CParameter> parameters = extents_of(context);
  parameters.push_back(parameter("bytes", context.input(0).shape[3] * bytes));
  context.call("resize_nearest", std::move(parameters), {context.in(0), rows, columns, context.out()});
  return {};
}

Result<void> add_bilinear(OperatorContext& context) {
  LOWTIDE_RETURN_IF_ERROR(check_resize(context));
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{int8}, int8}}));
  COperand rows = context.constant("rows", between(along(context, 1)));
  COperand columns = context.constant("columns", between(along(context, 2)));
  std::vector<CParameter> parameters = extents_of(context);
  parameters.insert(parameters.begin() + 3, parameter("channels", context.input(0).shape[3]));
  context.call("resize_bilinear_i8", std::move(parameters), {context.in(0), rows, columns, context.out()});
  return {};
}

}  // namespace

std::vector<OperatorRow> resize_rows() {
  return {{"RESIZE_BILINEAR", 2, 1, &add_bilinear}, {"RESIZE_NEAREST_NEIGHBOR", 2, 1, &add_nearest, {}}};
}

}  // namespace lowtide::tflite_program_internal
