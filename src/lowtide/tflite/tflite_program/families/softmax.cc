// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

constexpr int kIntegerBits = 5;  // of the differences whose exponentials are computed

// The exponential of -d times the scale of the input, for each difference d between two numbers of 8 bits.
std::vector<std::int32_t> exponentials(QuantizedMultiplier by) {
  // Larger differences have more integer bits, and their exponentials count as 0.
  const double reach = std::floor(((1 << kIntegerBits) - 1) * std::ldexp(1.0, 31 - kIntegerBits - by.shift));
  std::vector<std::int32_t> table(256, 0);
  for (std::int32_t difference = 0; difference < 256 && difference <= reach; ++difference) {
    const auto raised = static_cast<std::int32_t>(-(std::int64_t{difference} << by.shift));
    table[difference] = exponential(high_product(raised, by.multiplier), kIntegerBits);
  }
  return table;
}

Result<void> add_softmax(OperatorContext& context) {
  const TfliteTensor& from = context.input(0);
  const TfliteTensor& to = context.output();
  LOWTIDE_RETURN_IF_ERROR(context.check_types({{{int8}, int8}, {{int8}, int16}}));
  LOWTIDE_RETURN_IF_ERROR(context.check_quantized({&from, &to}));
  const bool is_long = to.type == int16;
  const float scale = is_long ? 0x1p-16F : 0x1p-8F;
  if (std::abs(scale_of(to) - scale) > (is_long ? 0.001F * scale : 0) ||
      zero_point_of(to) != (is_long ? -32768 : -128)) {
    return context.invalid(is_long ? "its output needs scale 1/65536 and zero point -32768"
                                   : "its output needs scale 1/256 and zero point -128");
  }
  if (from.shape.empty() || from.shape != to.shape || from.shape.back() < 1) {
    return context.invalid("output " + shape_text(to.shape) + " does not fit input " + shape_text(from.shape));
  }
  // Exponentials are at most 1, and their sum has 13 bits before the point.
  constexpr std::int64_t kMostDepth = (1 << 13) - 1;
  const std::int64_t depth = from.shape.back();
  if (depth > kMostDepth) {
    return context.unsupported("its rows have " + std::to_string(depth) + " elements; supported are at most " +
                               std::to_string(kMostDepth) + "; split them, or leave SOFTMAX out of the model");
  }
  const double factor = double{static_cast<float>(context.real_option("beta"))} * double{scale_of(from)};
  if (!(factor * (1 << (31 - kIntegerBits)) > 1))
    return context.invalid("beta times the scale of its input is too small");
  const double most = static_cast<double>((std::int64_t{1} << 31) - 1);
  LOWTIDE_TRY(const QuantizedMultiplier by, context.multiplier(std::min(factor * (1 << (31 - kIntegerBits)), most)));
  COperand table = context.constant("exponentials", exponentials(by));
  context.call(is_long ? "softmax_i8_i16" : "softmax_i8",
               {parameter("rows", elements_of(from.shape) / depth), parameter("depth", depth)},
               {context.in(0), table, context.out()});
  return {};
}

}  // namespace

std::vector<OperatorRow> softmax_rows() { return {{"SOFTMAX", 1, 1, &add_softmax}}; }

}  // namespace lowtide::tflite_program_internal
