// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/repetition.h"

#include <algorithm>
#include <cstddef>

namespace lowtide::tflite_program_internal {
namespace {

constexpr std::size_t kRepeatedLoops = 4;  // of the kernels

// The extent of an operand along an axis of the output; axes are counted from the back.
std::int64_t extent_of(const Shape& shape, std::size_t from_back) {
  return from_back < shape.size() ? shape[shape.size() - 1 - from_back] : 1;
}

}  // namespace

Result<Repetition> repetition_of(const OperatorContext& context, const Shape& first, const Shape& second,
                                 const Shape& output) {
  const auto refuse = [&] {
    return context.invalid("operands " + shape_text(first) + " and " + shape_text(second) + " do not give output " +
                           shape_text(output));
  };
  if (output.size() != std::max(first.size(), second.size())) return refuse();
  Repetition found;  // from the last axis to the first
  std::int64_t first_step = 1;
  std::int64_t second_step = 1;
  for (std::size_t at = 0; at < output.size(); ++at) {
    const std::int64_t a = extent_of(first, at);
    const std::int64_t b = extent_of(second, at);
    const std::int64_t extent = a == 1 ? b : a;
    if ((b != 1 && b != extent) || extent_of(output, at) != extent || extent == 0) return refuse();
    const std::int64_t step_of_first = a == 1 ? 0 : first_step;
    const std::int64_t step_of_second = b == 1 ? 0 : second_step;
    first_step *= a;
    second_step *= b;
    if (extent == 1) continue;
    if (!found.counts.empty() && step_of_first == found.first_steps.back() * found.counts.back() &&
        step_of_second == found.second_steps.back() * found.counts.back()) {
      found.counts.back() *= extent;
      continue;
    }
    found.counts.push_back(extent);
    found.first_steps.push_back(step_of_first);
    found.second_steps.push_back(step_of_second);
  }
  if (found.counts.size() > kRepeatedLoops) {
    return context.unsupported("its operands are repeated along too many axes that are apart; reshape them first");
  }
  found.counts.resize(kRepeatedLoops, 1);
  found.first_steps.resize(kRepeatedLoops, 0);
  found.second_steps.resize(kRepeatedLoops, 0);
  for (auto* list : {&found.counts, &found.first_steps, &found.second_steps}) std::reverse(list->begin(), list->end());
  return found;
}

Result<Repetition> repetition_of(const OperatorContext& context) {
  return repetition_of(context, context.input(0).shape, context.input(1).shape, context.output().shape);
}

}  // namespace lowtide::tflite_program_internal
