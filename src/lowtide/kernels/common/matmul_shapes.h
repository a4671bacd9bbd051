// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lowtide/kernels/common/extents.h"

namespace lowtide::kernels_internal {

// The extents of a product of matrices, whose axes except the last two are broadcast.
struct MatMulShapes {
  Extents a;  // at least two axes: a vector is a row, or as the second operand a column
  Extents b;
  Extents result;
};

// Returns nullopt if the operands do not agree, or if one is a scalar.
[[nodiscard]] std::optional<MatMulShapes> matmul_shapes(const BoundTensor& a, const BoundTensor& b);
// The same for extents. Requires: at most kMostAxes of each.
[[nodiscard]] std::optional<MatMulShapes> matmul_shapes(std::span<const std::int64_t> a,
                                                        std::span<const std::int64_t> b);

// Which matrix of an operand belongs to a matrix of the result. Both are counted row-major over the `batch` axes in
// front of the matrices.
[[nodiscard]] std::int64_t matrix_of(const Extents& operand, const Extents& result, int batch, std::int64_t number);

}  // namespace lowtide::kernels_internal
