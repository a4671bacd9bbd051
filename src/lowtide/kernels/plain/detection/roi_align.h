// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// RoiAlign of f32, f16 and bf16.
[[nodiscard]] Family roi_align_family();

}  // namespace lowtide::kernels_internal
