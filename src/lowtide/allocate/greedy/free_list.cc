// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/free_list.h"

#include <algorithm>
#include <iterator>

#include "lowtide/allocate/tuning.h"
#include "lowtide/base/check.h"

namespace lowtide::allocate_internal {
namespace {

// The lowest aligned offset from `begin` on whose `size` bytes meet no forbidden range.
std::int64_t lowest_allowed(std::int64_t begin, std::int64_t size, std::int64_t alignment,
                            std::span<const AddressRange> forbidden) {
  std::int64_t offset = (begin + alignment - 1) & -alignment;
  auto next = std::upper_bound(forbidden.begin(), forbidden.end(), offset,
                               [](std::int64_t at, const AddressRange& range) { return at < range.end; });
  for (; next != forbidden.end() && next->begin < offset + size; ++next) {
    offset = (next->end + alignment - 1) & -alignment;
  }
  return offset;
}

}  // namespace

std::int64_t FreeList::choose(std::int64_t size, std::int64_t alignment, std::span<const AddressRange> forbidden,
                              Effort& effort) const {
  effort.spend(1);
  int looked_at = 0;
  for (auto stretch = by_size_.lower_bound({size, 0});
       stretch != by_size_.end() && looked_at < tuning::kFreeListMostStretches; ++stretch, ++looked_at) {
    effort.spend(1);
    const auto [length, begin] = *stretch;
    const std::int64_t offset = lowest_allowed(begin, size, alignment, forbidden);
    if (offset + size <= begin + length) return offset;
  }
  const bool open_below_peak = !by_address_.empty() && std::prev(by_address_.end())->second == peak_;
  const std::int64_t open = open_below_peak ? std::prev(by_address_.end())->first : peak_;
  return lowest_allowed(open, size, alignment, forbidden);
}

void FreeList::take(AddressRange range) {
  if (range.end > peak_) {
    const std::int64_t old_peak = peak_;
    peak_ = range.end;
    release({old_peak, peak_});
  }
  auto stretch = by_address_.upper_bound(range.begin);
  LOWTIDE_CHECK(stretch != by_address_.begin(), "bytes that are taken are free");
  --stretch;
  const AddressRange whole{stretch->first, stretch->second};
  LOWTIDE_CHECK(whole.contains(range), "bytes that are taken are free");
  remove(stretch);
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

void FreeList::add(AddressRange stretch) {
  if (stretch.empty()) return;
  by_address_.emplace(stretch.begin, stretch.end);
  by_size_.emplace(stretch.end - stretch.begin, stretch.begin);
}

void FreeList::remove(std::map<std::int64_t, std::int64_t>::iterator stretch) {
  by_size_.erase({stretch->second - stretch->first, stretch->first});
  by_address_.erase(stretch);
}

}  // namespace lowtide::allocate_internal
