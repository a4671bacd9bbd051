// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/strided_copy.h"

namespace lowtide::kernels_internal {

// Some axes of a tensor, with their strides in elements.
struct StridedIndex {
  Extents extents;
  Extents strides;

  void add(std::int64_t extent, std::int64_t stride) {
    extents.push_back(extent);
    strides.push_back(stride);
  }
  [[nodiscard]] std::int64_t count() const { return extents.count(); }
  // Where the entry with this number is, in elements. Entries are counted row-major.
  [[nodiscard]] std::int64_t offset(std::int64_t number) const {
    std::int64_t offset = 0;
    for (int axis = extents.rank() - 1; axis >= 0; --axis) {
      offset += number % extents[axis] * strides[axis];
      number /= extents[axis];
    }
    return offset;
  }
};

// The elements of an operand that is broadcast to `extents`: its strides are 0 along axes that it repeats. Returns
// nullopt if it has other extents, or more axes.
[[nodiscard]] inline std::optional<StridedIndex> broadcast_to(const BoundTensor& operand, const Extents& extents) {
  const Extents own(extents_of(operand));
  const int missing = extents.rank() - own.rank();
  if (missing < 0) return std::nullopt;
  const Extents strides = dense_strides(own);
  StridedIndex index;
  for (int axis = 0; axis < extents.rank(); ++axis) {
    const bool is_repeated = axis < missing || own[axis - missing] == 1;
    if (!is_repeated && own[axis - missing] != extents[axis]) return std::nullopt;
    index.add(extents[axis], is_repeated ? 0 : strides[axis - missing]);
  }
  return index;
}

}  // namespace lowtide::kernels_internal
