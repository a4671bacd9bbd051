// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/occupied_ranges.h"

#include <algorithm>
#include <type_traits>

#include "lowtide/allocate/problem/fullest_moments.h"
#include "lowtide/base/check.h"

namespace lowtide::allocate_internal {

template <typename Stored>
OccupiedRanges<Stored>::OccupiedRanges(const CompressedProblem& problem) {
  const std::vector<Moment> fullest = fullest_moments(problem);
  first_clique_ = first_clique_from(fullest, problem.moments());
  rows_.push_back({.occupied = std::vector<RangeSet>(fullest.size()), .covering = {}});
  for (std::size_t nodes = fullest.size(); nodes > 1;) {
    nodes = (nodes + kFan - 1) / kFan;
    rows_.push_back({std::vector<RangeSet>(nodes), std::vector<RangeSet>(nodes)});
  }
}

template <typename Stored>
void OccupiedRanges<Stored>::clear() {
  for (Row& row : rows_) {
    for (RangeSet& set : row.occupied) set.clear();
    for (RangeSet& set : row.covering) set.clear();
  }
}

template <typename Stored>
template <typename Visit>
void OccupiedRanges<Stored>::for_each_whole(CliqueSpan span, Visit&& visit) const {
  std::size_t begin = span.begin.index();
  std::size_t end = span.end.index();
  for (std::size_t row = 0; begin < end; ++row, begin /= kFan, end /= kFan) {
    const bool is_top = row + 1 == rows_.size();
    for (; begin < end && (is_top || begin % kFan != 0); ++begin) visit(row, begin);
    for (; begin < end && end % kFan != 0; --end) visit(row, end - 1);
  }
}

template <typename Stored>
template <typename Visit>
void OccupiedRanges<Stored>::for_each_partial(CliqueSpan span, Visit&& visit) const {
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

template <typename Stored>
void OccupiedRanges<Stored>::insert(MomentSpan span, AddressRange bytes) {
  if constexpr (std::is_same_v<Stored, NarrowRange>) {
    LOWTIDE_CHECK(bytes.end < NarrowRange::kEnd, "the addresses of narrow ranges are below 2^48");
  }
  const CliqueSpan cliques = cliques_of(span);
  for_each_whole(cliques, [&](std::size_t row, std::size_t node) {
    add(rows_[row].occupied[node], bytes);
    if (row > 0) add(rows_[row].covering[node], bytes);
  });
  for_each_partial(cliques, [&](std::size_t row, std::size_t node) { add(rows_[row].occupied[node], bytes); });
}

template <typename Stored>
void OccupiedRanges<Stored>::collect(MomentSpan span, std::vector<AddressRange>& out, Effort& effort) const {
  const std::size_t before = out.size();
  const CliqueSpan cliques = cliques_of(span);
  const auto append = [&](const RangeSet& set) {
    const auto at = static_cast<std::ptrdiff_t>(out.size());
    out.resize(out.size() + set.size());
    std::transform(set.begin(), set.end(), out.begin() + at,
                   [](const Stored& one) { return static_cast<AddressRange>(one); });
  };
  for_each_whole(cliques, [&](std::size_t row, std::size_t node) { append(rows_[row].occupied[node]); });
  for_each_partial(cliques, [&](std::size_t row, std::size_t node) { append(rows_[row].covering[node]); });
  effort.spend(static_cast<std::int64_t>(out.size() - before) + 1);
}

template <typename Stored>
void OccupiedRanges<Stored>::add(RangeSet& set, AddressRange range) {
  Stored* const first = std::partition_point(
      set.begin(), set.end(), [&](const Stored& other) { return static_cast<AddressRange>(other).end < range.begin; });
  Stored* last = first;
  for (; last != set.end() && static_cast<AddressRange>(*last).begin <= range.end; ++last) {
    range = {std::min(range.begin, static_cast<AddressRange>(*last).begin),
             std::max(range.end, static_cast<AddressRange>(*last).end)};
  }
  if (first == last) {
    set.insert(first, Stored(range));
  } else {
    *first = Stored(range);
    set.erase(first + 1, last);
  }
}

template class OccupiedRanges<AddressRange>;
template class OccupiedRanges<NarrowRange>;

}  // namespace lowtide::allocate_internal
