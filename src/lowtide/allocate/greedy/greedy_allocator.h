// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/allocate/greedy/fit_rule.h"
#include "lowtide/allocate/greedy/occupied_ranges.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/placements.h"

namespace lowtide::allocate_internal {

// Assigns offsets to one buffer after another, in any order. Fixed buffers have their offsets from the start.
//
// The bytes that a buffer must not use come from its neighbours in a conflict graph, or without a graph from the bytes
// that are occupied during its life. Both give the same answers. The second way takes no memory per pair of buffers,
// and less time if a buffer has many neighbours. A relation always needs a graph.
class GreedyAllocator {
 public:
  // `problem` and `graph` must outlive the allocator. `graph` may be null. Then the allocator makes one if a relation
  // replaces time.
  explicit GreedyAllocator(const CompressedProblem& problem, const ConflictGraph* graph = nullptr);

  GreedyAllocator(const GreedyAllocator&) = delete;
  GreedyAllocator& operator=(const GreedyAllocator&) = delete;
  ~GreedyAllocator() = default;

  // Removes all offsets except those of fixed buffers.
  void clear();

  // The offset that the rule gives to `buffer`. Does not assign it.
  [[nodiscard]] std::int64_t find_offset_for(PackingId buffer, FitRule rule, Effort& effort);

  // Requires: `buffer` has no offset yet, and its bytes are free at this one.
  void assign(PackingId buffer, std::int64_t offset);

  // Returns the offsets. A buffer without one is at 0. Requires: the next call is `clear`, if there is any.
  [[nodiscard]] Placements take_placements() { return placements_at(problem_, std::move(offsets_)); }

 private:
  void collect_taken(PackingId buffer, Effort& effort);

  const CompressedProblem& problem_;
  const ConflictGraph* graph_;
  std::optional<ConflictGraph> relation_;  // if a relation replaces time and no graph was given
  // Without a graph, one of the last two.
  std::variant<std::monostate, OccupiedRanges<NarrowRange>, OccupiedRanges<AddressRange>> occupied_;
  IdVector<PackingId, std::int64_t> offsets_;
  IdVector<PackingId, AddressRange> ranges_;  // with a graph: the bytes of each buffer; empty if it has no offset yet
  std::vector<AddressRange> taken_;           // scratch of find_offset_for: the bytes of neighbours
};

// Assigns the movable buffers in the given order, by the given rule. Returns nullopt if the effort ends first. Takes
// one unit of effort per range or neighbour that is examined. With a graph, O(pairs log(most neighbours)). Without one,
// nearly linear if the buffers of most moments form few contiguous ranges, and O(pairs log^2 n) in the worst case.
[[nodiscard]] std::optional<Placements> allocate_in_order(GreedyAllocator& allocator, std::span<const PackingId> order,
                                                          FitRule rule, Effort& effort);

}  // namespace lowtide::allocate_internal
