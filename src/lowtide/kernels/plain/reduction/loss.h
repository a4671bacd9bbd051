// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss of f32, f16 and bf16. Labels are i64 or i32, and are checked.
[[nodiscard]] Family loss_family();

}  // namespace lowtide::kernels_internal
