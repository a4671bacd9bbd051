// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Operators that compute each element of the result from the elements at the same place: Relu of f32.
[[nodiscard]] Family elementwise_family();

}  // namespace lowtide::kernels_internal
