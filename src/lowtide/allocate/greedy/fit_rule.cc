// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/fit_rule.h"

#include <algorithm>
#include <optional>

#include "lowtide/allocate/problem/align.h"

namespace lowtide::allocate_internal {

std::int64_t find_offset(std::vector<AddressRange>& taken, std::int64_t size, std::int64_t alignment, FitRule rule) {
  struct Fit {
    std::int64_t waste = 0;
    std::int64_t offset = 0;
  };
  std::sort(taken.begin(), taken.end());
  std::int64_t top = 0;  // the highest end so far, where the next free range begins
  std::optional<Fit> tightest;
  for (const AddressRange& range : taken) {
    const std::int64_t offset = aligned_up(top, alignment);
    if (range.begin > top && offset + size <= range.begin) {
      if (rule == FitRule::lowest) return offset;
      const std::int64_t waste = range.begin - top - size;
      if (!tightest || waste < tightest->waste) tightest = {waste, offset};
    }
    top = std::max(top, range.end);
  }
  return tightest ? tightest->offset : aligned_up(top, alignment);
}

}  // namespace lowtide::allocate_internal
