// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lowtide/base/interval.h"

namespace lowtide::allocate_internal {

// Sorts the intervals and joins those that touch or overlap. O(n log n).
template <typename T>
void join_touching(std::vector<Interval<T>>& intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::size_t kept = 0;
  for (const Interval<T>& interval : intervals) {
    if (kept > 0 && interval.begin <= intervals[kept - 1].end) {
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, interval.end);
    } else {
      intervals[kept++] = interval;
    }
  }
  intervals.resize(kept);
}

}  // namespace lowtide::allocate_internal
