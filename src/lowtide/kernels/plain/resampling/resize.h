// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Resize and Upsample. Mode `nearest` has all element types; `linear` and `cubic` have f32, f16 and bf16. O(elements of
// the result times the taps of all axes).
[[nodiscard]] Family resize_family();

}  // namespace lowtide::kernels_internal
