// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/base/interval.h"

namespace lowtide::verify_internal {

// When each cell was last written. Times only grow, so a write of a range hides all earlier ones there. A binary
// tree with two numbers per node finds the last write in a range of cells, and never has to split a range:
//
//   covered: the last write of all cells below the node at once
//   latest:  the last write of any cell below it
//
//              [0,4) latest 7                        write([2,4), 7), after write([0,1), 5)
//        [0,2) latest 5   [2,4) covered 7
//     [0,1) covered 5   [1,2) -      ...             last_write([1,3)) = 7, last_write([0,2)) = 5
//
// O(log cells) per call, whatever was written before.
class WriteClock {
 public:
  using Cells = Interval<std::uint32_t>;

  explicit WriteClock(std::size_t cells)
      : leaves_(std::bit_ceil(std::max<std::size_t>(cells, 1))), covered_(2 * leaves_, 0), latest_(2 * leaves_, 0) {}

  // Requires: `time` is not before the time of any earlier write.
  void write(Cells cells, std::uint32_t time) {
    if (cells.empty()) return;
    for (std::size_t low = leaves_ + cells.begin, high = leaves_ + cells.end; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) covered_[low] = latest_[low] = time, ++low;
      if (high % 2 == 1) --high, covered_[high] = latest_[high] = time;
    }
    for (std::size_t at = (leaves_ + cells.begin) / 2; at > 0; at /= 2) refresh(at);
    for (std::size_t at = (leaves_ + cells.end - 1) / 2; at > 0; at /= 2) refresh(at);
  }

  // 0 if none of the cells was ever written.
  [[nodiscard]] std::uint32_t last_write(Cells cells) const {
    std::uint32_t last = 0;
    if (cells.empty()) return last;
    for (std::size_t low = leaves_ + cells.begin, high = leaves_ + cells.end; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) last = std::max(last, latest_[low++]);
      if (high % 2 == 1) last = std::max(last, latest_[--high]);
    }
    for (std::size_t at = (leaves_ + cells.begin) / 2; at > 0; at /= 2) last = std::max(last, covered_[at]);
    for (std::size_t at = (leaves_ + cells.end - 1) / 2; at > 0; at /= 2) last = std::max(last, covered_[at]);
    return last;
  }

 private:
  void refresh(std::size_t at) { latest_[at] = std::max({covered_[at], latest_[2 * at], latest_[2 * at + 1]}); }

  std::size_t leaves_;  // a power of two; node i has children 2i and 2i + 1, the leaves are the last half
  std::vector<std::uint32_t> covered_;
  std::vector<std::uint32_t> latest_;
};

}  // namespace lowtide::verify_internal
