// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Ensembles of trees, of domain ai.onnx.ml: TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor. Integers
// are compared as f32. Weights are added tree by tree in the type of the comparison.
[[nodiscard]] Family tree_family();

}  // namespace lowtide::kernels_internal
