// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Operators that run along one axis: CumProd, CumSum, OneHot, ReverseSequence, TensorScatter.
[[nodiscard]] Family along_axis_family();

}  // namespace lowtide::kernels_internal
