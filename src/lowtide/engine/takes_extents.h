// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lowtide/graph/shape.h"

namespace lowtide::engine_internal {

// Whether an input that is planned with this shape takes a tensor with these extents.
[[nodiscard]] inline bool takes_extents(const Shape& planned, std::span<const std::int64_t> extents) {
  if (static_cast<int>(extents.size()) != planned.rank()) return false;
  for (int axis = 0; axis < planned.rank(); ++axis) {
    const std::int64_t extent = extents[static_cast<std::size_t>(axis)];
    if (extent > planned[axis] || (extent < planned[axis] && !planned.is_at_most(axis))) return false;
  }
  return true;
}

}  // namespace lowtide::engine_internal
