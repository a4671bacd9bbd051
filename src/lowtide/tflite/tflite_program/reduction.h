// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/tflite/tflite_program/operator_context.h"

namespace lowtide::tflite_program_internal {

// Loops over the input, in its elements, from the outermost one.
struct Loops {
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> steps;
};

// What an operator reduces along axes of its first input. There are 3 loops of each kind.
struct Reduction {
  Loops kept;
  Loops reduced;
  std::int64_t elements = 1;  // that become one
};

// Reads the axes, which are the second input. Errors: invalid (no such axis, an empty input, an output of another
// size), unsupported (the axes are computed, or need more loops).
[[nodiscard]] Result<Reduction> reduction_of(const OperatorContext& context);

}  // namespace lowtide::tflite_program_internal
