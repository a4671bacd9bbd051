// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// The ten Reduce operators, of f32, f16, i64 and i32; ReduceMax and ReduceMin also of i8, u8 and bool.
[[nodiscard]] Family reduce_family();

}  // namespace lowtide::kernels_internal
