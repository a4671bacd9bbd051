// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/fold/numbers.h"

// Arithmetic on single elements that are exact, bounded or unknown. A result holds for all numbers that the operands
// may have. Ranges come from interval arithmetic. A bounded number is never negative.
namespace lowtide::import_internal {

using BinaryRule = Result<KnownElement> (*)(DType dtype, const KnownElement& a, const KnownElement& b);
using UnaryRule = KnownElement (*)(DType dtype, const KnownElement& a);

[[nodiscard]] Result<KnownElement> add_elements(DType dtype, const KnownElement& a, const KnownElement& b);
[[nodiscard]] Result<KnownElement> subtract_elements(DType dtype, const KnownElement& a, const KnownElement& b);
[[nodiscard]] Result<KnownElement> multiply_elements(DType dtype, const KnownElement& a, const KnownElement& b);
// Rounds integers towards zero. Errors: a divisor of exactly 0; the lowest number divided by -1.
[[nodiscard]] Result<KnownElement> divide_elements(DType dtype, const KnownElement& a, const KnownElement& b);
// Returns the remainder with the sign of the divisor, for integers only. Errors: a divisor of exactly 0.
[[nodiscard]] Result<KnownElement> modulo_elements(DType dtype, const KnownElement& a, const KnownElement& b);
// Returns the remainder with the sign of the dividend, like fmod in C. Errors: an integer divisor of exactly 0.
[[nodiscard]] Result<KnownElement> remainder_elements(DType dtype, const KnownElement& a, const KnownElement& b);
[[nodiscard]] Result<KnownElement> least_element(DType dtype, const KnownElement& a, const KnownElement& b);
[[nodiscard]] Result<KnownElement> greatest_element(DType dtype, const KnownElement& a, const KnownElement& b);

// Requires: base and exponent are integers. Returns an unknown element beyond 2^53, where kernels in double precision
// disagree.
[[nodiscard]] KnownElement integer_power(DType dtype, const KnownElement& base, const KnownElement& exponent);

}  // namespace lowtide::import_internal
