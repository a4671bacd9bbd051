// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// NonMaxSuppression. Scratch has 16 bytes per box. O(boxes x selected boxes) per class.
[[nodiscard]] Family boxes_family();

}  // namespace lowtide::kernels_internal
