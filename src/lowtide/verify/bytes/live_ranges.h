// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lowtide/base/interval.h"

namespace lowtide::verify_internal {

// Byte ranges that become live and dead in a sweep over time. Finds all live ranges that overlap a given one. The
// ranges are known from the start, and are the leaves of a binary tree, sorted by begin. A node of the tree holds the
// highest end of the live ranges below it. So the search skips a subtree whose highest end is not above the begin of
// the given range.
class LiveRanges {
 public:
  using Range = Interval<std::int64_t>;

  // Requires: fewer than 2^32 ranges.
  explicit LiveRanges(std::vector<Range> ranges);

  void insert(std::size_t index);
  void erase(std::size_t index);

  // Calls `found` with the index of each live range that shares a byte with range `index`, ascending by begin, until it
  // returns false. O((1 + found) log n).
  void for_each_overlap(std::size_t index, const std::function<bool(std::size_t)>& found) const;

 private:
  void set_end(std::size_t index, std::int64_t end);
  [[nodiscard]] std::size_t next_leaf(std::size_t from, std::int64_t above) const;

  std::vector<Range> ranges_;
  std::vector<std::uint32_t> by_begin_;  // leaf -> index
  std::vector<std::uint32_t> leaf_of_;   // index -> leaf
  std::size_t leaves_ = 1;               // a power of two
  std::vector<std::int64_t> highest_;    // of the tree's nodes; children of i: 2i and 2i + 1
};

}  // namespace lowtide::verify_internal
