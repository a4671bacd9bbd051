// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/free_list.h"

#include <algorithm>
#include <iterator>

#include "lowtide/allocate/problem/align.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/check.h"

namespace lowtide::allocate_internal {
namespace {

// The lowest aligned offset at or above `begin` at which `size` bytes overlap no forbidden range.
std::int64_t lowest_allowed(std::int64_t begin, std::int64_t size, std::int64_t alignment,
                            std::span<const AddressRange> forbidden) {
  std::int64_t offset = aligned_up(begin, alignment);
  auto next = std::upper_bound(forbidden.begin(), forbidden.end(), offset,
                               [](std::int64_t at, const AddressRange& range) { return at < range.end; });
  for (; next != forbidden.end() && next->begin < offset + size; ++next) offset = aligned_up(next->end, alignment);
  return offset;
}

}  // namespace

std::int64_t FreeList::find_offset(std::int64_t size, std::int64_t alignment, std::span<const AddressRange> forbidden,
                                   Effort& effort) const {
  effort.spend(1);
  int tried = 0;
  for (auto free = by_size_.lower_bound({size, 0}); free != by_size_.end() && tried < tuning::kFreeListMostRanges;
       ++free, ++tried) {
    effort.spend(1);
    const auto [length, begin] = *free;
    const std::int64_t offset = lowest_allowed(begin, size, alignment, forbidden);
    if (offset + size <= begin + length) return offset;
  }
  const bool is_top_free = !by_address_.empty() && std::prev(by_address_.end())->second == height_;
  const std::int64_t begin = is_top_free ? std::prev(by_address_.end())->first : height_;
  return lowest_allowed(begin, size, alignment, forbidden);
}

void FreeList::take(AddressRange range) {
  if (range.end > height_) {
    const std::int64_t old_height = height_;
    height_ = range.end;
    release({old_height, height_});
  }
  auto free = by_address_.upper_bound(range.begin);
  LOWTIDE_CHECK(free != by_address_.begin(), "the range to take is free");
  --free;
  const AddressRange whole{free->first, free->second};
  LOWTIDE_CHECK(whole.contains(range), "the range to take is free");
  remove(free);
  add({whole.begin, range.begin});
  add({range.end, whole.end});
}

void FreeList::release(AddressRange range) {
  const auto above = by_address_.lower_bound(range.begin);
  AddressRange joined = range;
  if (above != by_address_.begin() && std::prev(above)->second == range.begin) {
    joined.begin = std::prev(above)->first;
    remove(std::prev(above));
  }
  if (above != by_address_.end() && above->first == range.end) {
    joined.end = above->second;
    remove(above);
  }
  add(joined);
}

void FreeList::add(AddressRange free) {
  if (free.empty()) return;
  by_address_.emplace(free.begin, free.end);
  by_size_.emplace(free.end - free.begin, free.begin);
}

void FreeList::remove(std::map<std::int64_t, std::int64_t>::iterator free) {
  by_size_.erase({free->second - free->first, free->first});
  by_address_.erase(free);
}

}  // namespace lowtide::allocate_internal
