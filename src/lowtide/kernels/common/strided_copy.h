// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/team.h"

namespace lowtide::kernels_internal {

// Copies elements between two tensors whose axes have any strides. Axes are added from the outermost to the innermost
// one. A stride of 0 in `from` repeats elements; negative strides reverse them.
class StridedCopy {
 public:
  // Adds an axis. Strides are in elements. Requires: at most 2 * kMostAxes axes.
  void add(std::int64_t extent, std::int64_t from_stride, std::int64_t to_stride);
  // Copies nothing if an extent is 0. Does nothing if `from` and `to` are equal. O(elements).
  void run(const std::byte* from, std::byte* to, int element_bytes) const;
  // The same on the threads of a team, of which each has a part of the longest axis. Requires: no two elements of `to`
  // have one address.
  void run(const std::byte* from, std::byte* to, int element_bytes, Team& team) const;

 private:
  struct Axis {
    std::int64_t extent = 1;
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  std::array<Axis, 2 * static_cast<std::size_t>(kMostAxes)> axes_{};  // without extents of 1; adjacent ones are merged
  std::size_t count_ = 0;
  bool is_empty_ = false;
};

// The strides of a dense tensor, in elements.
[[nodiscard]] Extents dense_strides(const Extents& extents);

// memcpy, except that it does nothing if both addresses are equal.
void copy_bytes(const std::byte* from, std::byte* to, std::int64_t bytes);

}  // namespace lowtide::kernels_internal
