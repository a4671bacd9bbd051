// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Operators that sort: TopK and Unique. Equal elements keep their order. NaN counts as the largest number. Scratch has
// 8 bytes per element of a line (TopK), or 32 bytes per slice (Unique). O(n log n).
[[nodiscard]] Family sorting_family();

}  // namespace lowtide::kernels_internal
