// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/effort.h"

namespace lowtide::allocate_internal {

// The buffers placed so far, by time: enumerates those whose hull meets a span without a table of all pairs.
//
// All members are known beforehand, sorted by begin. A placed one shows its end at its position, one that is not placed
// shows 0; above the positions stands a tree of maxima, kFan children a node. Those that meet [begin, end) are the
// positions before the first begin >= end whose shown value is above `begin`:
//
//   level 1              9                     4            a query [5, 7) descends into the 9 and never into the 4
//   level 0    9   0   3   0   7   ...   4   0   4   0 ...
//
// Insert O(log n); query O(kFan x (found + 1) x log n), in practice near `found`, since neighbours in time lie
// together.
class PlacedIndex {
 public:
  // Nothing is placed at first. Only `members` may be inserted.
  PlacedIndex(const CompressedProblem& problem, std::span<const PackingId> members);

  void insert(PackingId buffer);
  void clear();

  // Calls visit(id) for each placed member whose hull meets `span`; a visit and each tree node count as one unit.
  template <typename Visit>
  void for_each_meeting(MomentSpan span, Effort& effort, Visit&& visit) const {
    const std::size_t before =
        static_cast<std::size_t>(std::lower_bound(begins_.begin(), begins_.end(), span.end) - begins_.begin());
    if (before > 0) descend(levels_.size() - 1, 0, {before, span.begin}, effort, visit);
  }

 private:
  static constexpr std::size_t kFan = 16;

  // Members below the position `before` whose end is above `begin`.
  struct Query {
    std::size_t before = 0;
    Moment begin = 0;
  };

  // Positions [node * kFan, ...) of `level`, as far as they cover members below `before`. As deep as the tree: <= 8.
  template <typename Visit>
  void descend(std::size_t level, std::size_t node, const Query& query, Effort& effort, Visit&& visit) const {
    const std::vector<Moment>& ends = levels_[level];
    const std::size_t first = node * kFan;
    const std::size_t last = std::min({first + kFan, ends.size(), ((query.before - 1) >> (kFanBits * level)) + 1});
    effort.spend(1);
    for (std::size_t at = first; at < last; ++at) {
      if (ends[at] <= query.begin) continue;
      if (level > 0) {
        descend(level - 1, at, query, effort, visit);
      } else {
        effort.spend(1);
        visit(members_[at]);
      }
    }
  }
  static constexpr std::size_t kFanBits = 4;
  static_assert(std::size_t{1} << kFanBits == kFan);

  std::vector<PackingId> members_;               // by begin, then id
  std::vector<Moment> begins_;                   // of members_
  IdVector<PackingId, std::uint32_t> position_;  // in members_
  std::vector<Moment> ends_of_members_;          // of members_, shown once placed
  std::vector<std::vector<Moment>> levels_;      // [0]: one entry a member; [k]: maximum of kFan entries of [k - 1]
};

}  // namespace lowtide::allocate_internal
