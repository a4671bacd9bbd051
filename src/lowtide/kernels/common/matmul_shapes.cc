// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/matmul_shapes.h"

#include <algorithm>

namespace lowtide::kernels_internal {

std::optional<MatMulShapes> matmul_shapes(const BoundTensor& a, const BoundTensor& b) {
  return matmul_shapes(extents_of(a), extents_of(b));
}

std::optional<MatMulShapes> matmul_shapes(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  if (a.empty() || b.empty()) return std::nullopt;
  MatMulShapes shapes{Extents(a), Extents(b), {}};
  if (a.size() == 1) shapes.a = Extents{1, a[0]};
  if (b.size() == 1) shapes.b = Extents{b[0], 1};
  const int a_batch = shapes.a.rank() - 2;
  const int b_batch = shapes.b.rank() - 2;
  if (shapes.a[a_batch + 1] != shapes.b[b_batch]) return std::nullopt;
  const int batch = std::max(a_batch, b_batch);
  for (int axis = 0; axis < batch; ++axis) {
    const std::int64_t from_a = axis < batch - a_batch ? 1 : shapes.a[axis - (batch - a_batch)];
    const std::int64_t from_b = axis < batch - b_batch ? 1 : shapes.b[axis - (batch - b_batch)];
    if (from_a != from_b && from_a != 1 && from_b != 1) return std::nullopt;
    shapes.result.push_back(from_a == 1 ? from_b : from_a);
  }
  if (a.size() > 1) shapes.result.push_back(shapes.a[a_batch]);
  if (b.size() > 1) shapes.result.push_back(shapes.b[b_batch + 1]);
  return shapes;
}

std::int64_t matrix_of(const Extents& operand, const Extents& result, int batch, std::int64_t number) {
  std::int64_t matrix = 0;
  std::int64_t stride = 1;
  for (int back = 1; back <= batch; ++back) {
    const std::int64_t index = number % result[batch - back];
    number /= result[batch - back];
    const int axis = operand.rank() - 2 - back;
    if (axis < 0) break;
    if (operand[axis] != 1) matrix += index * stride;
    stride *= operand[axis];
  }
  return matrix;
}

}  // namespace lowtide::kernels_internal
