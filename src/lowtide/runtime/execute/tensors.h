// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>

#include "lowtide/kernels/kernel.h"

namespace lowtide::runtime_internal {

// Tensors whose bytes or extents change hands between a graph and its bodies.

[[nodiscard]] inline std::span<const std::int64_t> extents_of(const BoundTensor& tensor) {
  return {tensor.extents, static_cast<std::size_t>(tensor.rank)};
}

// The bytes of a dense tensor. Saturates at 2^63 - 1.
[[nodiscard]] std::int64_t dense_bytes(DType dtype, std::span<const std::int64_t> extents);
// The bytes of the tensor in this run.
[[nodiscard]] inline std::int64_t bytes_of(const BoundTensor& tensor) {
  return tensor.is_dynamic ? dense_bytes(tensor.dtype, extents_of(tensor)) : tensor.capacity_bytes;
}

// Gives a tensor its extents. Returns bad_extents if a static tensor has others, or size_exceeds_plan if it would have
// more bytes than its capacity, or an extent above its upper bound.
[[nodiscard]] RunStatus set_extents(const BoundTensor& tensor, std::span<const std::int64_t> extents);

// Gives `to` the extents and bytes of `from`. The bytes of both are equal or do not overlap.
[[nodiscard]] RunStatus copy_tensor(const BoundTensor& from, const BoundTensor& to);

}  // namespace lowtide::runtime_internal
