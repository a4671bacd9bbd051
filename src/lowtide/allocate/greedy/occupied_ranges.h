// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/allocate/greedy/narrow_range.h"
#include "lowtide/allocate/problem/clique_id.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/placements.h"
#include "lowtide/base/compact_vector.h"

namespace lowtide::allocate_internal {

// The bytes that buffers occupy over time. It answers which bytes are occupied at some moment of a span, without a
// table of pairs.
//
// The structure is a segment tree over the cliques of the problem (fullest_moments.h), with kFan children per node. A
// span consists of a few whole nodes. The nodes above them belong to it in part:
//
//   row 2  |               a               |       with two children per node, the span [2, 8) consists of the
//   row 1  |       b       |       c       |       node [2, 4) of row 0 and the node c of row 1;
//   row 0  |0   2  |  2   4|  4   6|  6   8|       a and b belong to it in part
//
// Each node has two sets of byte ranges. `occupied` has the bytes of all spans that have the node or a node below it
// as a whole node. `covering` has the bytes of the spans that have the node itself as a whole node. So the bytes that
// are occupied during a span are `occupied` of its whole nodes, and `covering` of the nodes above them.
//
// `Stored` is the form of a range in the sets: AddressRange or NarrowRange.
//
// Ranges that touch are joined. A full stack of thousands of buffers is one range, so an answer is much shorter than a
// list of the buffers in conflict.
template <typename Stored>
class OccupiedRanges {
 public:
  explicit OccupiedRanges(const CompressedProblem& problem);

  void clear();

  // Occupies the bytes at all moments of the span. Bytes may be occupied several times. Requires: `Stored` can hold
  // them.
  // O(kFan x log(cliques) x (log(ranges of a node) + ranges that move)).
  void insert(MomentSpan span, AddressRange bytes);

  // Appends ranges whose union is what is occupied at some moment of the span. They may overlap each other. The spans
  // are those of buffers of the problem. O(kFan x log(cliques) + ranges); one unit of effort per range.
  void collect(MomentSpan span, std::vector<AddressRange>& out, Effort& effort) const;

 private:
  static constexpr std::size_t kFanBits = 2;
  static constexpr std::size_t kFan = std::size_t{1} << kFanBits;

  // Disjoint ranges in ascending order, with free bytes between neighbours.
  using RangeSet = CompactVector<Stored>;
  struct Row {
    std::vector<RangeSet> occupied;
    std::vector<RangeSet> covering;  // empty in row 0, where it would equal `occupied`
  };

  static void add(RangeSet& set, AddressRange range);

  [[nodiscard]] CliqueSpan cliques_of(MomentSpan span) const {
    return {first_clique_[span.begin], first_clique_[span.end]};
  }
  // Calls visit(row, node) for each whole node of a span.
  template <typename Visit>
  void for_each_whole(CliqueSpan span, Visit&& visit) const;
  // Calls visit(row, node) for each node above row 0 of which some cliques are in the span, but not all.
  template <typename Visit>
  void for_each_partial(CliqueSpan span, Visit&& visit) const;

  std::vector<CliqueId> first_clique_;  // by moment
  std::vector<Row> rows_;               // node n of row r has the cliques [n, n + 1) x kFan^r
};

}  // namespace lowtide::allocate_internal
