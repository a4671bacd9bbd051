// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/blocks/tile.h"

// For the sources that are compiled for one instruction set, as tile_code.h.

namespace lowtide::kernels_internal {

// Keeps a loop over a few places a loop. Otherwise the compiler calls a function of the C library for it.
[[gnu::always_inline]] inline void stay_loop(float*& place) { __asm__("" : "+r"(place)); }

// Fills places with zeros. Returns where the next one is.
template <typename Lanes>
[[gnu::always_inline]] inline float* write_zeros(float* to, std::int64_t places) {
  const typename Lanes::Vector zero = Lanes::splat(0);
  for (std::int64_t at = 0; at < places; ++at, to += Lanes::kCount) {
    Lanes::store(to, zero);
    stay_loop(to);
  }
  return to;
}

template <typename Lanes>
void copy_window(const WindowCopy& work) {
  const std::int64_t columns = work.columns_before + work.columns_inside + work.columns_after;
  float* to = write_zeros<Lanes>(work.copy, work.rows_before * columns);
  for (std::int64_t row = 0; row < work.rows_inside; ++row) {
    to = write_zeros<Lanes>(to, work.columns_before);
    const float* from = work.source + row * work.row_step;
    for (std::int64_t at = 0; at < work.columns_inside; ++at, from += Lanes::kCount, to += Lanes::kCount) {
      Lanes::store(to, Lanes::load(from));
      stay_loop(to);
    }
    to = write_zeros<Lanes>(to, work.columns_after);
  }
  write_zeros<Lanes>(to, work.rows_after * columns);
}

}  // namespace lowtide::kernels_internal
