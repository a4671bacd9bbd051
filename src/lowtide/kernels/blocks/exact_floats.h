// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/graph/graph.h"

namespace lowtide::kernels_internal {

// Whether a tensor is of f32, and its extents are known before the run and above 0.
[[nodiscard]] inline bool has_exact_floats(const Tensor& tensor) {
  return tensor.dtype == DType::f32 && !tensor.shape.has_upper_bounds() && tensor.size > Bytes();
}

}  // namespace lowtide::kernels_internal
