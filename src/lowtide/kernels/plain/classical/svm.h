// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// SVMClassifier and SVMRegressor of domain ai.onnx.ml, with support vectors or linear. They compute f64.
[[nodiscard]] Family svm_family();

}  // namespace lowtide::kernels_internal
