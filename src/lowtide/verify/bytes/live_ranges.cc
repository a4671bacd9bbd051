// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/bytes/live_ranges.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

namespace lowtide::verify_internal {
namespace {

constexpr std::int64_t kNotLive = std::numeric_limits<std::int64_t>::min();

}  // namespace

LiveRanges::LiveRanges(std::vector<Range> ranges)
    : ranges_(std::move(ranges)), by_begin_(ranges_.size()), leaf_of_(ranges_.size()) {
  std::iota(by_begin_.begin(), by_begin_.end(), std::uint32_t{0});
  std::sort(by_begin_.begin(), by_begin_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(ranges_[a].begin, a) < std::pair(ranges_[b].begin, b);
  });
  for (std::uint32_t leaf = 0; leaf < by_begin_.size(); ++leaf) leaf_of_[by_begin_[leaf]] = leaf;
  leaves_ = std::bit_ceil(std::max<std::size_t>(ranges_.size(), 1));
  highest_.assign(2 * leaves_, kNotLive);
}

// An empty range overlaps nothing. It is never live, so it does not slow down the search.
void LiveRanges::insert(std::size_t index) {
  if (!ranges_[index].empty()) set_end(index, ranges_[index].end);
}

void LiveRanges::erase(std::size_t index) { set_end(index, kNotLive); }

void LiveRanges::set_end(std::size_t index, std::int64_t end) {
  std::size_t at = leaves_ + leaf_of_[index];
  highest_[at] = end;
  for (at /= 2; at > 0; at /= 2) highest_[at] = std::max(highest_[2 * at], highest_[2 * at + 1]);
}

// The first leaf at or after `from` whose live range ends above `above`; `leaves_` if there is none.
std::size_t LiveRanges::next_leaf(std::size_t from, std::int64_t above) const {
  if (from >= leaves_) return leaves_;
  std::size_t at = leaves_ + from;
  while (highest_[at] <= above) {
    while (at % 2 == 1) at /= 2;  // a right child: nothing more under its parent
    if (at == 0) return leaves_;
    ++at;
  }
  while (at < leaves_) at = highest_[2 * at] > above ? 2 * at : 2 * at + 1;
  return at - leaves_;
}

void LiveRanges::for_each_overlap(std::size_t index, const std::function<bool(std::size_t)>& found) const {
  const Range& wanted = ranges_[index];
  if (wanted.empty()) return;
  for (std::size_t leaf = next_leaf(0, wanted.begin); leaf < by_begin_.size();
       leaf = next_leaf(leaf + 1, wanted.begin)) {
    const std::size_t other = by_begin_[leaf];
    if (ranges_[other].begin >= wanted.end) return;
    if (other != index && !found(other)) return;
  }
}

}  // namespace lowtide::verify_internal
