// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/placements.h"

namespace lowtide::allocate_internal {

// The free ranges of the arena at one moment, by address and by size. Everything above the highest end so far, the
// height, is free.
//
//  height +------+
//         | free |   by address: [0, 4), [6, 9); by size: (3 bytes at 6), (4 bytes at 0)
//      6  +------+
//         | used |   release() joins a range with its free neighbours; take() splits one
//      4  +------+
//         | free |
//      0  +------+
class FreeList {
 public:
  // No bytes below `bottom` are ever free.
  explicit FreeList(std::int64_t bottom) : height_(bottom) {}

  // Returns an aligned offset for `size` bytes that avoids `forbidden` (sorted and disjoint, with space between the
  // ranges). It tries free ranges of at least `size` bytes, the smallest first, up to the number in tuning.h. It takes
  // the first one that holds the bytes. If none does, it returns the lowest offset from which the bytes reach above the
  // height. O(ranges tried x log); one unit of effort per range.
  [[nodiscard]] std::int64_t find_offset(std::int64_t size, std::int64_t alignment,
                                         std::span<const AddressRange> forbidden, Effort& effort) const;

  // Requires: the range is free.
  void take(AddressRange range);

  // Requires: the range was taken as a whole.
  void release(AddressRange range);

 private:
  void add(AddressRange free);
  void remove(std::map<std::int64_t, std::int64_t>::iterator free);

  std::int64_t height_;
  std::map<std::int64_t, std::int64_t> by_address_;          // begin -> end
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;  // (end - begin, begin)
};

}  // namespace lowtide::allocate_internal
