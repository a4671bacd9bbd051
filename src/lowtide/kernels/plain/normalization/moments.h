// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>

#include "lowtide/kernels/common/extents.h"

namespace lowtide::kernels_internal {

// Running sums of elements.
struct Moments {
  std::int64_t count = 0;
  double sum = 0;
  double sum_of_squares = 0;  // of differences from `shift`
  double shift = 0;

  // Adds in lanes (lanes.h).
  void add(const float* x, std::int64_t more);
  [[nodiscard]] double mean() const { return shift + sum / static_cast<double>(count); }
  // The variance of the population. Rounding may not make it negative.
  [[nodiscard]] double variance() const {
    const double mean_of_shifted = sum / static_cast<double>(count);
    return std::max(sum_of_squares / static_cast<double>(count) - mean_of_shifted * mean_of_shifted, 0.0);
  }
};

// The first element is subtracted from all of them, so that a large mean does not cancel the variance.
[[nodiscard]] inline Moments moments_of(const float* x, std::int64_t count) {
  Moments moments{.shift = count > 0 ? static_cast<double>(*x) : 0};
  moments.add(x, count);
  return moments;
}

// [N, C, plane]. An operand of one axis has one channel.
struct Channels {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t plane = 1;
};
[[nodiscard]] inline Channels channels_of(const Extents& from) {
  if (from.rank() < 2) return {from.count(), 1, 1};
  return {from[0], from[1], from.product(2, from.rank())};
}

}  // namespace lowtide::kernels_internal
