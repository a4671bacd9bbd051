// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/baselines/free_space.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace lowtide::baselines_internal {

Offset smallest_gap(std::span<const AddressRange> ranges, Bytes size) {
  std::optional<Bytes> best_gap;
  Offset best;
  Offset end;  // the highest end so far
  for (const AddressRange& range : ranges) {
    if (range.begin > end || range.begin == end) {
      const Bytes gap = range.begin - end;
      if (gap >= size && gap > Bytes(0) && (!best_gap || gap < *best_gap)) {
        best_gap = gap;
        best = end;
      }
    }
    end = std::max(end, range.end);
  }
  return best_gap ? best : end;
}

Offset FreeSpace::smallest_gap(Bytes size) const {
  const auto found = by_length_.lower_bound({size, Offset(0)});
  return found == by_length_.end() ? end_ : found->second;
}

void FreeSpace::take(Offset begin, Offset end) {
  if (begin > end_) {
    add_gap(end_, begin);
  } else {
    auto gap = gaps_.upper_bound(begin);
    if (gap != gaps_.begin() && std::prev(gap)->second > begin) --gap;
    // An empty range divides a gap.
    while (gap != gaps_.end() && gap->first < end) {
      const auto [gap_begin, gap_end] = *gap;
      gap = erase_gap(gap);
      add_gap(gap_begin, begin);
      add_gap(end, gap_end);
    }
  }
  end_ = std::max(end_, end);
}

void FreeSpace::add_gap(Offset begin, Offset end) {
  if (begin >= end) return;
  gaps_.emplace(begin, end);
  by_length_.emplace(end - begin, begin);
}

FreeSpace::Gaps::iterator FreeSpace::erase_gap(Gaps::iterator gap) {
  by_length_.erase({gap->second - gap->first, gap->first});
  return gaps_.erase(gap);
}

}  // namespace lowtide::baselines_internal
