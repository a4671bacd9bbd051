// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "lowtide/base/interval.h"

namespace lowtide {

// Bytes in each row: add to a span of rows, ask for the most in a span and for a row that has it. All O(log rows): a
// segment tree with additions kept where they cover a whole node (Bentley, 1977).
class RowLoads {
 public:
  using RowSpan = Interval<std::uint32_t>;

  explicit RowLoads(std::size_t rows) {
    while (leaves_ < rows) leaves_ *= 2;
    most_.assign(2 * leaves_, 0);
    added_.assign(2 * leaves_, 0);
  }

  // Require, here and below: the span is not empty.
  void add(RowSpan rows, std::int64_t bytes) {
    for (std::size_t low = rows.begin + leaves_, high = rows.end + leaves_; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) raise(low++, bytes);
      if (high % 2 == 1) raise(--high, bytes);
    }
    settle(rows.begin + leaves_);
    settle(rows.end - 1 + leaves_);
  }

  [[nodiscard]] std::int64_t most(RowSpan rows) const {
    std::int64_t best = std::numeric_limits<std::int64_t>::min();
    for (std::size_t low = rows.begin + leaves_, high = rows.end + leaves_; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) best = std::max(best, seen_from_root(low++));
      if (high % 2 == 1) best = std::max(best, seen_from_root(--high));
    }
    return best;
  }

  // The first node that reaches it, then down to a leaf.
  [[nodiscard]] std::uint32_t row_with(RowSpan rows, std::int64_t most) const {
    std::size_t found = 0;
    for (std::size_t low = rows.begin + leaves_, high = rows.end + leaves_; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1 && seen_from_root(low++) == most) found = low - 1;
      if (high % 2 == 1 && seen_from_root(--high) == most) found = high;
    }
    while (found < leaves_) {
      const std::int64_t below = most_[found] - added_[found];
      found = most_[2 * found] == below ? 2 * found : 2 * found + 1;
    }
    return static_cast<std::uint32_t>(found - leaves_);
  }

 private:
  void raise(std::size_t node, std::int64_t bytes) {
    most_[node] += bytes;
    added_[node] += bytes;
  }
  void settle(std::size_t leaf) {
    for (std::size_t node = leaf / 2; node >= 1; node /= 2) {
      most_[node] = std::max(most_[2 * node], most_[2 * node + 1]) + added_[node];
    }
  }
  [[nodiscard]] std::int64_t seen_from_root(std::size_t node) const {
    std::int64_t result = most_[node];
    for (std::size_t above = node / 2; above >= 1; above /= 2) result += added_[above];
    return result;
  }

  std::size_t leaves_ = 1;
  std::vector<std::int64_t> most_;   // of the rows below a node, with what was added to it but not above it
  std::vector<std::int64_t> added_;  // to all rows below it
};

}  // namespace lowtide
