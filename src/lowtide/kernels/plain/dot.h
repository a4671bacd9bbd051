// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lowtide::kernels_internal {

// The sum of products of two rows in 16 lanes, then from the lower to the upper half, so that vector code has the same
// bits everywhere.
template <typename T>
[[nodiscard]] T dot(const T* a, const T* b, std::int64_t count) {
  constexpr std::int64_t kLanes = 16;
  std::array<T, kLanes> lanes{};
  std::int64_t at = 0;
  for (; at + kLanes <= count; at += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[static_cast<std::size_t>(lane)] += a[at + lane] * b[at + lane];
    }
  }
  for (std::int64_t lane = 0; at < count; ++at, ++lane) lanes[static_cast<std::size_t>(lane)] += a[at] * b[at];
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

}  // namespace lowtide::kernels_internal
