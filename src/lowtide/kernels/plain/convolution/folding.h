// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// lowtide::ScaledWeights and lowtide::ScaledBias, the constants of a convolution that has a BatchNormalization folded
// into it. They are computed in f64 and rounded once.
[[nodiscard]] Family folding_family();

}  // namespace lowtide::kernels_internal
