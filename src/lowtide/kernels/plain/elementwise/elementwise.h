// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Operators that compute each element of the result from the elements of the operands at the same place. Operands are
// broadcast to each other, as in numpy. f16 and bf16 are computed in f32 and rounded once per node.

// One operand: mathematical functions, activations, Not.
[[nodiscard]] Family unary_family();
// Two operands: arithmetic, comparisons, logic, bits, PRelu.
[[nodiscard]] Family binary_family();
// Clip, Where, and operators of any number of operands: Max, Min, Sum, Mean.
[[nodiscard]] Family select_family();
// Cast, CastLike, BitCast.
[[nodiscard]] Family cast_family();
// Cast of integers of 4 bits.
[[nodiscard]] Family four_bit_cast_family();

}  // namespace lowtide::kernels_internal
