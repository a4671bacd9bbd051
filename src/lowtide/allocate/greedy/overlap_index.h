// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/effort.h"

namespace lowtide::allocate_internal {

// Finds the inserted buffers whose lifespan overlaps a span, without a table of all pairs.
//
// All members are known beforehand and sorted by begin. Row 0 has the end of each inserted member, and 0 for the
// others. The rows above form a tree of maxima with kFan children per node. The members that overlap [begin, end) are
// those that begin before `end` and have a value above `begin` in row 0:
//
//   row 1                9                     4            a query [5, 7) looks below the 9, but not below the 4
//   row 0      9   0   3   0   7   ...   4   0   4   0 ...
//
// insert: O(log n). Query: O(kFan x (found + 1) x log n), in practice close to `found`, because members that are close
// in time are close in the tree.
class OverlapIndex {
 public:
  // Nothing is inserted at first. Only `members` may be inserted.
  OverlapIndex(const CompressedProblem& problem, std::span<const PackingId> members);

  void insert(PackingId buffer);

  // Calls visit(id) for each inserted member whose lifespan overlaps `span`. Each call and each tree node take one unit
  // of effort.
  template <typename Visit>
  void for_each_overlapping(MomentSpan span, Effort& effort, Visit&& visit) const {
    const auto before =
        static_cast<std::size_t>(std::lower_bound(begins_.begin(), begins_.end(), span.end) - begins_.begin());
    if (before > 0) descend(rows_.size() - 1, 0, {before, span.begin}, effort, visit);
  }

 private:
  static constexpr std::size_t kFanBits = 4;
  static constexpr std::size_t kFan = std::size_t{1} << kFanBits;

  // Members below the position `before` whose end is above `begin`.
  struct Query {
    std::size_t before = 0;
    Moment begin = 0;
  };

  // Visits the kFan children of a node, which start at position node * kFan of the row, as far as they cover members
  // below `before`. The recursion is as deep as the tree, which has at most 8 rows.
  template <typename Visit>
  void descend(std::size_t row, std::size_t node, const Query& query, Effort& effort, Visit&& visit) const {
    const std::vector<Moment>& ends = rows_[row];
    const std::size_t first = node * kFan;
    const std::size_t last = std::min({first + kFan, ends.size(), ((query.before - 1) >> (kFanBits * row)) + 1});
    effort.spend(1);
    for (std::size_t at = first; at < last; ++at) {
      if (ends[at] <= query.begin) continue;
      if (row > 0) {
        descend(row - 1, at, query, effort, visit);
      } else {
        effort.spend(1);
        visit(members_[at]);
      }
    }
  }

  std::vector<PackingId> members_;               // by begin, then id
  std::vector<Moment> begins_;                   // of members_
  IdVector<PackingId, std::uint32_t> position_;  // in members_
  std::vector<Moment> ends_of_members_;          // of members_; copied into rows_[0] when a member is inserted
  std::vector<std::vector<Moment>> rows_;
};

}  // namespace lowtide::allocate_internal
