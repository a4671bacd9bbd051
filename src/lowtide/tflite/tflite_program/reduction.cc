// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/reduction.h"

#include <cstddef>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/movement.h"

namespace lowtide::tflite_program_internal {
namespace {

constexpr std::size_t kReductionLoops = 3;  // of the kernels, of each kind

// Adds an outer loop in front of the others.
void prepend(Loops& loops, std::int64_t count, std::int64_t step) {
  if (!loops.counts.empty() && loops.counts.front() * loops.steps.front() == step) {
    loops.counts.front() *= count;
    return;
  }
  loops.counts.insert(loops.counts.begin(), count);
  loops.steps.insert(loops.steps.begin(), step);
}

}  // namespace

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

}  // namespace lowtide::tflite_program_internal
