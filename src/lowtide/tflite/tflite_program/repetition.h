// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/tflite/tflite_program/operator_context.h"

namespace lowtide::tflite_program_internal {

// How two operands are repeated along the axes of an output: 4 loops, from the outermost one.
struct Repetition {
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> first_steps;
  std::vector<std::int64_t> second_steps;
};

// The loops of operands with these shapes, with axes joined where one loop can go through both. Errors: invalid (the
// shapes do not give this output, or it is empty), unsupported (more than 4 loops are needed).
[[nodiscard]] Result<Repetition> repetition_of(const OperatorContext& context, const Shape& first, const Shape& second,
                                               const Shape& output);

// The same for the first two inputs and the first output.
[[nodiscard]] Result<Repetition> repetition_of(const OperatorContext& context);

}  // namespace lowtide::tflite_program_internal
