// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/occupied_ranges.h"

#include <algorithm>

#include "lowtide/allocate/problem/fullest_moments.h"

namespace lowtide::allocate_internal {

OccupiedRanges::OccupiedRanges(const CompressedProblem& problem) {
  const std::vector<Moment> fullest = fullest_moments(problem);
  first_clique_ = first_clique_from(fullest, problem.moments());
  rows_.push_back({.occupied = std::vector<RangeSet>(fullest.size()), .covering = {}});
  for (std::size_t nodes = fullest.size(); nodes > 1;) {
    nodes = (nodes + kFan - 1) / kFan;
    rows_.push_back({std::vector<RangeSet>(nodes), std::vector<RangeSet>(nodes)});
  }
}

void OccupiedRanges::clear() {
  for (Row& row : rows_) {
    for (RangeSet& set : row.occupied) set.clear();
    for (RangeSet& set : row.covering) set.clear();
  }
}

template <typename Visit>
void OccupiedRanges::for_each_whole(CliqueSpan span, Visit&& visit) const {
  std::size_t begin = span.begin.index();
  std::size_t end = span.end.index();
  for (std::size_t row = 0; begin < end; ++row, begin /= kFan, end /= kFan) {
    const bool is_top = row + 1 == rows_.size();
    for (; begin < end && (is_top || begin % kFan != 0); ++begin) visit(row, begin);
    for (; begin < end && end % kFan != 0; --end) visit(row, end - 1);
  }
}

template <typename Visit>
void OccupiedRanges::for_each_partial(CliqueSpan span, Visit&& visit) const {
  if (span.empty()) return;
  const std::size_t begin = span.begin.index();
  const std::size_t end = span.end.index();
  for (std::size_t row = 1; row < rows_.size(); ++row) {
    const std::size_t width = std::size_t{1} << (kFanBits * row);
    const std::size_t first = begin / width;
    const std::size_t last = (end - 1) / width;
    const auto is_partial = [&](std::size_t node) { return node * width < begin || (node + 1) * width > end; };
    if (is_partial(first)) visit(row, first);
    if (last != first && is_partial(last)) visit(row, last);
  }
}

void OccupiedRanges::insert(MomentSpan span, AddressRange bytes) {
  const CliqueSpan cliques = cliques_of(span);
  for_each_whole(cliques, [&](std::size_t row, std::size_t node) {
    add(rows_[row].occupied[node], bytes);
    if (row > 0) add(rows_[row].covering[node], bytes);
  });
  for_each_partial(cliques, [&](std::size_t row, std::size_t node) { add(rows_[row].occupied[node], bytes); });
}

void OccupiedRanges::collect(MomentSpan span, std::vector<AddressRange>& out, Effort& effort) const {
  const std::size_t before = out.size();
  const CliqueSpan cliques = cliques_of(span);
  const auto append = [&](const RangeSet& set) { out.insert(out.end(), set.begin(), set.end()); };
  for_each_whole(cliques, [&](std::size_t row, std::size_t node) { append(rows_[row].occupied[node]); });
  for_each_partial(cliques, [&](std::size_t row, std::size_t node) { append(rows_[row].covering[node]); });
  effort.spend(static_cast<std::int64_t>(out.size() - before) + 1);
}

void OccupiedRanges::add(RangeSet& set, AddressRange range) {
  const auto first =
      std::partition_point(set.begin(), set.end(), [&](const AddressRange& other) { return other.end < range.begin; });
  auto last = first;
  for (; last != set.end() && last->begin <= range.end; ++last) {
    range = {std::min(range.begin, last->begin), std::max(range.end, last->end)};
  }
  if (first == last) {
    const auto at = first - set.begin();
    // There are several sets per buffer, and most have few ranges. So they grow by a quarter and not by the double.
    if (set.size() == set.capacity()) set.reserve(set.size() + set.size() / 4 + 1);
    set.insert(set.begin() + at, range);
  } else {
    *first = range;
    set.erase(first + 1, last);
  }
}

}  // namespace lowtide::allocate_internal
