// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Hardmax, LogSoftmax, Softmax of f64, f32, f16 and bf16. Until opset 12 they normalize over all axes from `axis` on,
// later over one.
[[nodiscard]] Family softmax_family();

}  // namespace lowtide::kernels_internal
