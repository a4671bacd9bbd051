// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/allocate/greedy/fit_rule.h"
#include "lowtide/allocate/greedy/overlap_index.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/placements.h"

namespace lowtide::allocate_internal {

// Assigns offsets to one buffer after another, in any order. Fixed buffers have their offsets from the start.
//
// Conflicts come from a graph, which is faster if many orders are tried. Without a graph, they come from an index over
// time and the pairs of the relation, which take no memory per pair of buffers. Both give the same answers.
class GreedyAllocator {
 public:
  // `problem` and `graph` must outlive the allocator. `graph` may be null.
  GreedyAllocator(const CompressedProblem& problem, const ConflictGraph* graph);

  // Removes all offsets except those of fixed buffers.
  void clear();

  // The offset that the rule gives to `buffer`. Does not assign it.
  [[nodiscard]] std::int64_t find_offset_for(PackingId buffer, FitRule rule, Effort& effort);

  // Requires: `buffer` has no offset yet, and its bytes are free at this one.
  void assign(PackingId buffer, std::int64_t offset);

  // The bytes of each buffer; empty if it has no offset yet.
  [[nodiscard]] const IdVector<PackingId, AddressRange>& ranges() const { return ranges_; }
  [[nodiscard]] const CompressedProblem& problem() const { return problem_; }

 private:
  void collect_taken(PackingId buffer, Effort& effort);

  const CompressedProblem& problem_;
  const ConflictGraph* graph_;
  std::optional<OverlapIndex> index_;      // without a graph
  std::optional<ConflictGraph> relation_;  // without a graph, if a relation replaces time
  IdVector<PackingId, AddressRange> ranges_;
  std::vector<AddressRange> taken_;  // scratch of find_offset_for: the bytes of neighbours
};

// Assigns the movable buffers in the given order, by the given rule. Returns nullopt if the effort ends first.
// Examines each conflict at most twice. O(pairs log(most neighbours)).
[[nodiscard]] std::optional<Placements> allocate_in_order(GreedyAllocator& allocator, std::span<const PackingId> order,
                                                          FitRule rule, Effort& effort);

}  // namespace lowtide::allocate_internal
