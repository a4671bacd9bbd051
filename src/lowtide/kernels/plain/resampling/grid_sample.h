// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// AffineGrid and GridSample of f32, f16 and bf16, with one to three spatial axes.
[[nodiscard]] Family grid_sample_family();

}  // namespace lowtide::kernels_internal
