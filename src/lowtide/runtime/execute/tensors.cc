// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/execute/tensors.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace lowtide::runtime_internal {

std::int64_t dense_bytes(DType dtype, std::span<const std::int64_t> extents) {
  if (std::ranges::find(extents, 0) != extents.end()) return 0;
  std::int64_t bits = bits_of(dtype).value_or(8);
  for (std::int64_t extent : extents) {
    if (__builtin_mul_overflow(bits, extent, &bits)) return std::numeric_limits<std::int64_t>::max();
  }
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

RunStatus set_extents(const BoundTensor& tensor, std::span<const std::int64_t> extents) {
  if (extents.size() != static_cast<std::size_t>(tensor.rank)) return {RunCode::bad_extents, 0};
  if (!tensor.is_dynamic) {
    return {std::ranges::equal(extents, extents_of(tensor)) ? RunCode::ok : RunCode::bad_extents, 0};
  }
  if (dense_bytes(tensor.dtype, extents) > tensor.capacity_bytes) return {RunCode::size_exceeds_plan, 0};
  for (std::size_t axis = 0; tensor.bounds != nullptr && axis < extents.size(); ++axis) {
    if (extents[axis] > tensor.bounds[axis]) return {RunCode::size_exceeds_plan, 0};
  }
  std::ranges::copy(extents, tensor.extents);
  return {};
}

RunStatus copy_tensor(const BoundTensor& from, const BoundTensor& to) {
  const RunStatus status = set_extents(to, extents_of(from));
  if (status.code != RunCode::ok) return status;
  const std::int64_t bytes = bytes_of(to);
  if (*from.bytes != *to.bytes && bytes > 0) std::memcpy(*to.bytes, *from.bytes, static_cast<std::size_t>(bytes));
  return {};
}

}  // namespace lowtide::runtime_internal
