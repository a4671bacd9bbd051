// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cstddef>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"
#include "lowtide/tflite/tflite_program/movement.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

constexpr std::size_t kReductionLoops = 3;  // of the kernels, of each kind

// Loops over the input, in its elements.
struct Loops {
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> steps;
};

struct Reduction {
  Loops kept;
  Loops reduced;
  std::int64_t elements = 1;  // that become one
};

// Adds an outer loop in front of the others.
void prepend(Loops& loops, std::int64_t count, std::int64_t step) {
  if (!loops.counts.empty() && loops.counts.front() * loops.steps.front() == step) {
    loops.counts.front() *= count;
    return;
  }
  loops.counts.insert(loops.counts.begin(), count);
  loops.steps.insert(loops.steps.begin(), step);
}

Result<Reduction> reduction_of(const OperatorContext& context) {
  const Shape& input = context.input(0).shape;
  LOWTIDE_TRY(const std::vector<std::int64_t> axes, context.integers(1));
  std::vector<bool> is_reduced(input.size(), false);
  for (std::int64_t stated : axes) {
    LOWTIDE_TRY(const std::size_t axis, context.axis(stated, input.size()));
    is_reduced[axis] = true;
  }
  Reduction found;
  std::int64_t kept = 1;
  const Shape steps = steps_of(input);
  for (std::size_t at = input.size(); at-- > 0;) {
    if (input[at] == 0) return context.invalid("its input is empty");
    (is_reduced[at] ? found.elements : kept) *= input[at];
    if (input[at] > 1) prepend(is_reduced[at] ? found.reduced : found.kept, input[at], steps[at]);
  }
  if (elements_of(context.output().shape) != kept) {
    return context.invalid("output " + shape_text(context.output().shape) + " does not fit input " + shape_text(input));
  }
  for (Loops* loops : {&found.kept, &found.reduced}) {
    if (loops->counts.size() > kReductionLoops)
      return context.unsupported("axes that are kept and others alternate too often; transpose it first");
    loops->counts.insert(loops->counts.begin(), kReductionLoops - loops->counts.size(), 1);
    loops->steps.insert(loops->steps.begin(), kReductionLoops - loops->steps.size(), 0);
  }
  return found;
}

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
