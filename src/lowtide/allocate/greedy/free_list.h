// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/placements.h"

namespace lowtide::allocate_internal {

// The free stretches of the arena at one moment, by address and by size. The arena is as high as it ever was, so
// its last stretch, if free, is a stretch like the others; above it everything is free.
//
//   peak  +------+
//         | free |   by address: 0..4, 6..9 ; by size: (3, 6), (4, 0)
//      6  +------+
//         | used |   release joins with the free neighbours, take splits
//      4  +------+
//         | free |
//      0  +------+
class FreeList {
 public:
  // Bytes below `floor` are never free.
  explicit FreeList(std::int64_t floor) : floor_(floor), peak_(floor) {}

  // Where `size` bytes go: the smallest free stretch that holds them, aligned and away from `forbidden` (sorted,
  // disjoint, not touching each other). If none does among the kMostStretches smallest that are large enough: the
  // lowest place that reaches into the open end. O(kMostStretches x log); one unit of effort a stretch.
  [[nodiscard]] std::int64_t choose(std::int64_t size, std::int64_t alignment, std::span<const AddressRange> forbidden,
                                    Effort& effort) const;

  // Require: free.
  void take(AddressRange range);

  // Require: taken as a whole.
  void release(AddressRange range);

 private:
  void add(AddressRange stretch);
  void remove(std::map<std::int64_t, std::int64_t>::iterator stretch);

  std::int64_t floor_;
  std::int64_t peak_;                                        // end of the arena so far
  std::map<std::int64_t, std::int64_t> by_address_;          // begin -> end
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;  // (end - begin, begin)
};

}  // namespace lowtide::allocate_internal
