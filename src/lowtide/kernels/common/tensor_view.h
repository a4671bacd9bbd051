// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lowtide/kernels/kernel.h"

namespace lowtide::kernels_internal {

// Readers of a BoundTensor during a run. Requires of all: the operand is present, and T has the size of its elements.

[[nodiscard]] inline bool is_present(const BoundTensor& tensor) { return tensor.bytes != nullptr; }

template <typename T>
[[nodiscard]] const T* elements(const BoundTensor& tensor) {
  return reinterpret_cast<const T*>(*tensor.bytes);
}
template <typename T>
[[nodiscard]] T* mutable_elements(const BoundTensor& tensor) {
  return reinterpret_cast<T*>(*tensor.bytes);
}

[[nodiscard]] inline std::span<const std::int64_t> extents_of(const BoundTensor& tensor) {
  return {tensor.extents, static_cast<std::size_t>(tensor.rank)};
}

// The number of elements in this run. It fits 64 bits, because the graph bounds every size.
[[nodiscard]] inline std::int64_t count_of(const BoundTensor& tensor) {
  std::int64_t count = 1;
  for (std::int64_t extent : extents_of(tensor)) count *= extent;
  return count;
}

// Whether an input or output of a node exists and is not omitted.
[[nodiscard]] inline bool has_operand(std::span<const BoundTensor> operands, std::size_t at) {
  return at < operands.size() && is_present(operands[at]);
}

}  // namespace lowtide::kernels_internal
