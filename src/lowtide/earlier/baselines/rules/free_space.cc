// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/rules/free_space.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace lowtide::baselines_internal {

Offset smallest_free_range(std::span<const AddressRange> ranges, Bytes size) {
  std::optional<Bytes> best_size;
  Offset best;
  Offset end;  // the highest end so far
  for (const AddressRange& range : ranges) {
    if (range.begin > end || range.begin == end) {
      const Bytes length = range.begin - end;
      if (length >= size && length > Bytes(0) && (!best_size || length < *best_size)) {
        best_size = length;
        best = end;
      }
    }
    end = std::max(end, range.end);
  }
  return best_size ? best : end;
}

Offset FreeSpace::smallest_free_range(Bytes size) const {
  const auto found = by_length_.lower_bound({size, Offset(0)});
  return found == by_length_.end() ? end_ : found->second;
}

void FreeSpace::take(Offset begin, Offset end) {
  if (begin > end_) {
    add_free(end_, begin);
  } else {
    auto range = free_.upper_bound(begin);
    if (range != free_.begin() && std::prev(range)->second > begin) --range;
    // An empty range divides a free range.
    while (range != free_.end() && range->first < end) {
      const auto [free_begin, free_end] = *range;
      range = erase_free(range);
      add_free(free_begin, begin);
      add_free(end, free_end);
    }
  }
  end_ = std::max(end_, end);
}

void FreeSpace::add_free(Offset begin, Offset end) {
  if (begin >= end) return;
  free_.emplace(begin, end);
  by_length_.emplace(end - begin, begin);
}

FreeSpace::Ranges::iterator FreeSpace::erase_free(Ranges::iterator range) {
  by_length_.erase({range->second - range->first, range->first});
  return free_.erase(range);
}

}  // namespace lowtide::baselines_internal
