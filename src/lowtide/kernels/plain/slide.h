// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>

#include "lowtide/kernels/plain/window.h"

namespace lowtide::kernels_internal {

// Adds the products of one input channel with its taps to one output channel. It calls
// add_row(tap, from, stride, to, count) for parts of rows: to[i] += tap * from[i * stride] for i < count.
template <typename X, typename W, typename Sum, typename AddRow>
void slide_channel(const Window& window, const X* from, const W* taps, Sum* to, AddRow add_row) {
  const auto& [depth, height, width] = window.axes;
  for (std::int64_t tap_d = 0; tap_d < depth.kernel; ++tap_d) {
    const auto [first_d, end_d] = depth.valid_results(tap_d);
    for (std::int64_t tap_h = 0; tap_h < height.kernel; ++tap_h) {
      const auto [first_h, end_h] = height.valid_results(tap_h);
      for (std::int64_t tap_w = 0; tap_w < width.kernel; ++tap_w) {
        const auto [first_w, end_w] = width.valid_results(tap_w);
        const W tap = *taps++;
        for (std::int64_t d = first_d; d < end_d; ++d) {
          for (std::int64_t h = first_h; h < end_h; ++h) {
            const std::int64_t row = depth.position(d, tap_d) * height.in + height.position(h, tap_h);
            add_row(tap, from + row * width.in + width.position(first_w, tap_w), width.stride,
                    to + (d * height.out + h) * width.out + first_w, end_w - first_w);
          }
        }
      }
    }
  }
}

// A kernel of one tap that moves by one element and pads nothing treats the plane as one row.
inline void merge_rows(Window& window) {
  const auto is_point = [](const WindowAxis& axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.in == axis.out;
  };
  if (!std::ranges::all_of(window.axes, is_point)) return;
  const std::int64_t count = window.in_count();
  window = {};
  window.axes[2].in = count;
  window.axes[2].out = count;
}

}  // namespace lowtide::kernels_internal
