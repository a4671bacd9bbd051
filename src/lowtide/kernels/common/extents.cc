// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/extents.h"

#include <algorithm>

namespace lowtide::kernels_internal {

std::optional<int> axis_in(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

RunStatus set_extents(const BoundTensor& result, const Extents& extents) {
  const std::span<const std::int64_t> values = extents.values();
  if (result.rank != extents.rank() || std::ranges::any_of(values, [](std::int64_t extent) { return extent < 0; })) {
    return {RunCode::bad_extents, 0};
  }
  if (!result.is_dynamic) {
    return {std::ranges::equal(values, extents_of(result)) ? RunCode::ok : RunCode::bad_extents, 0};
  }
  // The data of a model may decide the extents, so their product may exceed 64 bits.
  std::int64_t bits = std::ranges::find(values, 0) != values.end() ? 0 : bits_of(result.dtype).value_or(8);
  for (std::int64_t extent : values) {
    if (__builtin_mul_overflow(bits, extent, &bits)) return {RunCode::size_exceeds_plan, 0};
  }
  if (bits / 8 + (bits % 8 != 0 ? 1 : 0) > result.capacity_bytes) return {RunCode::size_exceeds_plan, 0};
  for (std::size_t axis = 0; result.bounds != nullptr && axis < values.size(); ++axis) {
    if (values[axis] > result.bounds[axis]) return {RunCode::size_exceeds_plan, 0};
  }
  std::ranges::copy(values, result.extents);
  return {};
}

std::optional<Extents> broadcast(std::span<const BoundTensor> operands) {
  int rank = 0;
  for (const BoundTensor& operand : operands) {
    if (is_present(operand)) rank = std::max(rank, operand.rank);
  }
  Extents all;
  for (int axis = 0; axis < rank; ++axis) all.push_back(1);
  for (const BoundTensor& operand : operands) {
    if (!is_present(operand)) continue;
    for (int axis = rank - operand.rank; axis < rank; ++axis) {
      const std::int64_t extent = operand.extents[axis - (rank - operand.rank)];
      if (all[axis] == 1) all[axis] = extent;
      if (extent != 1 && extent != all[axis]) return std::nullopt;
    }
  }
  return all;
}

std::optional<Extents> integers_of(const BoundTensor& operand) {
  const std::int64_t count = count_of(operand);
  if (count > kMostAxes || (operand.dtype != DType::i64 && operand.dtype != DType::i32)) return std::nullopt;
  Extents values;
  for (std::int64_t at = 0; at < count; ++at) {
    values.push_back(operand.dtype == DType::i64 ? elements<std::int64_t>(operand)[at]
                                                 : elements<std::int32_t>(operand)[at]);
  }
  return values;
}

int element_bytes(DType dtype) { return bits_of(dtype).value_or(8) / 8; }

}  // namespace lowtide::kernels_internal
