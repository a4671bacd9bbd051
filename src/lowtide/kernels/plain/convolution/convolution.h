// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Conv of f64, f32, f16 and bf16 over one to three spatial axes, with groups, strides, dilations and padding.
[[nodiscard]] Family convolution_family();
// ConvTranspose of f32, f16 and bf16 over one to three spatial axes.
[[nodiscard]] Family transposed_convolution_family();

}  // namespace lowtide::kernels_internal
