// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace lowtide::kernels_internal {

// The elements that a Slice takes along one axis: `count` of them from `start` on, `step` apart.
struct SliceAxis {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

// Positions count from the end if they are negative, and are clamped to the axis as ONNX defines. A backward slice
// starts at an element, and may end at -1, in front of the first element. Requires: step != 0.
[[nodiscard]] inline SliceAxis slice_axis(std::int64_t extent, std::int64_t start, std::int64_t end,
                                          std::int64_t step) {
  const std::int64_t lowest_end = step > 0 ? 0 : -1;
  const std::int64_t highest = step > 0 ? extent : extent - 1;
  const auto position = [&](std::int64_t given, std::int64_t lowest) {
    return std::clamp(given < 0 ? given + extent : given, lowest, std::max(lowest, highest));
  };
  const std::int64_t first = position(start, 0);
  const std::int64_t last = position(end, lowest_end);
  const std::int64_t distance = step > 0 ? last - first : first - last;
  if (distance <= 0 || extent == 0) return {};
  // A step beyond the axis takes one element, as the extent itself does.
  const std::int64_t limited = std::clamp(step, -extent, extent);
  return {first, limited, (distance - 1) / std::abs(limited) + 1};
}

}  // namespace lowtide::kernels_internal
