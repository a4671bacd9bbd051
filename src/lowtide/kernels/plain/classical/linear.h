// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// LinearClassifier and LinearRegressor of domain ai.onnx.ml: products of a matrix with the coefficients. Operands of
// f64 are multiplied as f64, others as f32.
[[nodiscard]] Family linear_family();

}  // namespace lowtide::kernels_internal
