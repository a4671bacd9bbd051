// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lowtide::kernels_internal {

// Sums have as many lanes on every processor, so that their bits do not depend on the width of its registers.
inline constexpr std::int64_t kSumLanes = 16;

// The lanes as one value: arrays would not stay in registers. Loads and stores are calls of memcpy.
struct FloatLanes {
  float values __attribute__((vector_size(kSumLanes * sizeof(float))));
};
struct DoubleLanes {
  double values __attribute__((vector_size(kSumLanes * sizeof(double))));
};

// The sum of all lanes: the upper half is added to the lower one, and so on.
template <typename T>
[[nodiscard]] T total_of_lanes(std::array<T, kSumLanes>& lanes) {
  for (std::size_t half = kSumLanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

}  // namespace lowtide::kernels_internal
