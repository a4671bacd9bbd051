// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>

#include "lowtide/kernels/plain/windows/sliding_window.h"

namespace lowtide::kernels_internal {

// Calls row(tap, in, out, count) for the parts of rows that a tap connects. `tap` counts the taps. Element
// in + i * stride of the plane of in_count() elements belongs to element out + i of the plane of out_count() elements,
// for i < count and the stride of the last axis.
template <typename Row>
void for_each_row(const Window& window, Row row) {
  const auto& [depth, height, width] = window.axes;
  const auto [begin_d, stop_d] = depth.useful_taps();
  const auto [begin_h, stop_h] = height.useful_taps();
  const auto [begin_w, stop_w] = width.useful_taps();
  for (std::int64_t tap_d = begin_d; tap_d < stop_d; ++tap_d) {
    const auto [first_d, end_d] = depth.valid_results(tap_d);
    for (std::int64_t tap_h = begin_h; tap_h < stop_h; ++tap_h) {
      const auto [first_h, end_h] = height.valid_results(tap_h);
      for (std::int64_t tap_w = begin_w; tap_w < stop_w; ++tap_w) {
        const auto [first_w, end_w] = width.valid_results(tap_w);
        const std::int64_t tap = (tap_d * height.kernel + tap_h) * width.kernel + tap_w;
        for (std::int64_t d = first_d; d < end_d; ++d) {
          for (std::int64_t h = first_h; h < end_h; ++h) {
            const std::int64_t in_row = depth.position(d, tap_d) * height.in + height.position(h, tap_h);
            row(tap, in_row * width.in + width.position(first_w, tap_w), (d * height.out + h) * width.out + first_w,
                end_w - first_w);
          }
        }
      }
    }
  }
}

// Adds the products of one input channel with its taps to one output channel. It calls
// add_row(tap, from, stride, to, count) for parts of rows: to[i] += tap * from[i * stride] for i < count.
template <typename X, typename W, typename Sum, typename AddRow>
void slide_channel(const Window& window, const X* from, const W* taps, Sum* to, AddRow add_row) {
  const std::int64_t stride = window.axes[2].stride;
  for_each_row(window, [=](std::int64_t tap, std::int64_t in, std::int64_t out, std::int64_t count) {
    add_row(taps[tap], from + in, stride, to + out, count);
  });
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
