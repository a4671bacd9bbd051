// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Col2Im, DeformConv (two spatial axes) and MaxUnpool of f32, f16 and bf16.
[[nodiscard]] Family sampling_family();

}  // namespace lowtide::kernels_internal
