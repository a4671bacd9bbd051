// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "lowtide/base/half.h"
#include "lowtide/graph/dtype.h"

namespace lowtide::kernels_internal {

// Types of 16 bits that kernels store, and compute as f32: f16 and bf16.
[[nodiscard]] constexpr bool is_narrow_float(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

// The type in which a kernel that widens narrow floats computes.
[[nodiscard]] constexpr DType computed_type(DType dtype) { return is_narrow_float(dtype) ? DType::f32 : dtype; }

// Converts elements of a narrow type to f32, and back. Requires: is_narrow_float(dtype).
inline void widen_floats(DType dtype, const std::byte* from, std::int64_t count, float* to) {
  if (dtype == DType::f16) return to_floats(reinterpret_cast<const Half*>(from), count, to);
  to_floats(reinterpret_cast<const BrainFloat*>(from), count, to);
}
inline void narrow_floats(DType dtype, const float* from, std::int64_t count, std::byte* to) {
  if (dtype == DType::f16) return to_halves(from, count, reinterpret_cast<Half*>(to));
  to_brain_floats(from, count, reinterpret_cast<BrainFloat*>(to));
}

}  // namespace lowtide::kernels_internal
