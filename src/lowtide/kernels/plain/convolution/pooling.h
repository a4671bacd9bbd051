// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Pools over one to three spatial axes: AveragePool, LpPool and MaxPool with a sliding window, and GlobalAveragePool,
// GlobalLpPool and GlobalMaxPool over whole planes. Of f64, f32, f16 and bf16; MaxPool also of i8 and u8.
[[nodiscard]] Family pooling_family();

}  // namespace lowtide::kernels_internal
