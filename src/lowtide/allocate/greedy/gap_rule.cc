// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/gap_rule.h"

#include <algorithm>
#include <limits>

namespace lowtide::allocate_internal {

std::int64_t choose_offset(std::vector<AddressRange>& taken, std::int64_t size, std::int64_t alignment, GapRule rule) {
  std::sort(taken.begin(), taken.end());
  std::int64_t top = 0;  // highest end so far: the next stretch begins here
  std::int64_t least_waste = std::numeric_limits<std::int64_t>::max();
  std::int64_t tightest = 0;
  for (const AddressRange& range : taken) {
    if (range.begin > top) {
      const std::int64_t offset = (top + alignment - 1) & -alignment;
      if (offset + size <= range.begin) {
        if (rule == GapRule::lowest) return offset;
        const std::int64_t waste = range.begin - top - size;
        if (waste < least_waste) {
          least_waste = waste;
          tightest = offset;
        }
      }
    }
    top = std::max(top, range.end);
  }
  if (least_waste != std::numeric_limits<std::int64_t>::max()) return tightest;
  return (top + alignment - 1) & -alignment;
}

}  // namespace lowtide::allocate_internal
