// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Gemm, MatMul: of f32, f16, i64 and i32. Integers wrap around.
[[nodiscard]] Family products_family();
// Einsum of at most 6 operands, of f32, f16, i64 and i32. O(product of the extents of all labels).
[[nodiscard]] Family einsum_family();

}  // namespace lowtide::kernels_internal
