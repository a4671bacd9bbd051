// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace lowtide {

// A row of numbers with two operations in O(log n): add a number to a range of positions, and find the maximum of a
// range. It is a segment tree that stores an addition at the nodes that the range covers completely (J. Bentley,
// "Solutions to Klee's rectangle problems", 1977). It works from the leaves upwards, without recursion. Requires: all
// sums are within [-2^62, 2^62).
class RangeMax {
 public:
  explicit RangeMax(const std::vector<std::int64_t>& row) : width_(1) {
    while (width_ < std::max<std::size_t>(row.size(), 1)) width_ *= 2;
    most_.assign(2 * width_, std::numeric_limits<std::int64_t>::min() / 2);
    added_.assign(2 * width_, 0);
    std::copy(row.begin(), row.end(), most_.begin() + static_cast<std::ptrdiff_t>(width_));
    for (std::size_t at = width_ - 1; at > 0; --at) most_[at] = std::max(most_[2 * at], most_[2 * at + 1]);
  }

  // Adds `number` to all positions of [begin, end). An empty range changes nothing.
  void add(std::size_t begin, std::size_t end, std::int64_t number) {
    if (begin >= end) return;
    std::size_t left = begin + width_;
    std::size_t right = end + width_;
    while (left < right) {
      if ((left & 1U) != 0) apply(left++, number);
      if ((right & 1U) != 0) apply(--right, number);
      left /= 2;
      right /= 2;
    }
    rebuild_above(begin + width_);
    rebuild_above(end - 1 + width_);
  }

  // The maximum over [begin, end). Requires: begin < end.
  [[nodiscard]] std::int64_t most(std::size_t begin, std::size_t end) const {
    std::int64_t best = std::numeric_limits<std::int64_t>::min();
    std::size_t left = begin + width_;
    std::size_t right = end + width_;
    while (left < right) {
      if ((left & 1U) != 0) best = std::max(best, seen_from_root(left++));
      if ((right & 1U) != 0) best = std::max(best, seen_from_root(--right));
      left /= 2;
      right /= 2;
    }
    return best;
  }

  // A position in [begin, end) whose number is `most`. Requires: most == this->most(begin, end). O(log^2 n).
  [[nodiscard]] std::size_t position_with(std::size_t begin, std::size_t end, std::int64_t most) const {
    std::size_t found = 0;
    for (std::size_t left = begin + width_, right = end + width_; left < right; left /= 2, right /= 2) {
      if ((left & 1U) != 0 && seen_from_root(left++) == most) found = left - 1;
      if ((right & 1U) != 0 && seen_from_root(--right) == most) found = right;
    }
    while (found < width_) {
      const std::int64_t below = most_[found] - added_[found];
      found = most_[2 * found] == below ? 2 * found : 2 * found + 1;
    }
    return found - width_;
  }

 private:
  void apply(std::size_t at, std::int64_t number) {
    most_[at] += number;
    added_[at] += number;
  }
  void rebuild_above(std::size_t at) {
    for (at /= 2; at > 0; at /= 2) most_[at] = std::max(most_[2 * at], most_[2 * at + 1]) + added_[at];
  }
  // The maximum of the positions below node `at`, with the additions at all nodes above it.
  [[nodiscard]] std::int64_t seen_from_root(std::size_t at) const {
    std::int64_t result = most_[at];
    for (std::size_t above = at / 2; above > 0; above /= 2) result += added_[above];
    return result;
  }

  std::size_t width_;                // a power of two
  std::vector<std::int64_t> most_;   // by node: the maximum of the positions below it, without the additions above it
  std::vector<std::int64_t> added_;  // by node: the additions to all positions below it; most_ includes them
};

}  // namespace lowtide
