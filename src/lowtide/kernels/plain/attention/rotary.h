// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// RotaryEmbedding of f32, f16 and bf16, with caches of cosines and sines, and positions of i64.
[[nodiscard]] Family rotary_family();

}  // namespace lowtide::kernels_internal
