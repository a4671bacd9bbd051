// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Gemm, MatMul: of f32, i64 and i32. Integers wrap around.
[[nodiscard]] Family products_family();

}  // namespace lowtide::kernels_internal
