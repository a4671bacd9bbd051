// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lowtide/kernels/common/lanes.h"

namespace lowtide::kernels_internal {

// The sum of products of two rows, in the lanes of lanes.h.
template <typename T>
[[nodiscard]] T dot(const T* a, const T* b, std::int64_t count) {
  std::array<T, kSumLanes> lanes{};
  std::int64_t at = 0;
  for (; at + kSumLanes <= count; at += kSumLanes) {
    for (std::int64_t lane = 0; lane < kSumLanes; ++lane) {
      lanes[static_cast<std::size_t>(lane)] += a[at + lane] * b[at + lane];
    }
  }
  for (std::int64_t lane = 0; at < count; ++at, ++lane) lanes[static_cast<std::size_t>(lane)] += a[at] * b[at];
  return total_of_lanes(lanes);
}

}  // namespace lowtide::kernels_internal
