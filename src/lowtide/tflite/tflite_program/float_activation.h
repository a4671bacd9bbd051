// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/c_source/c_program/c_program.h"
#include "lowtide/tflite/tflite_program/operator_context.h"

namespace lowtide::tflite_program_internal {

// The activation of an operator on floats, as limits of its results.
struct FloatLimits {
  int count = 0;  // 1: results are at least `minimum`; 2: and at most `maximum`
  float minimum = 0;
  float maximum = 0;
};

// Errors: unsupported, for activations that are not limits.
[[nodiscard]] Result<FloatLimits> float_limits(const OperatorContext& context);

// Parameters that kernels with limits end with.
void append_limits(const FloatLimits& limits, std::vector<CParameter>& to);

// Adds a call that limits the output of the calls before it, if there are limits.
void add_limits(OperatorContext& context, const FloatLimits& limits);

}  // namespace lowtide::tflite_program_internal
