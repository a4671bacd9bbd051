// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/id_lists.h"

namespace lowtide::allocate_internal {

// The neighbours of each movable or fixed buffer. They are in conflict with it, because both are active at some moment
// or because the relation names the pair. The graph takes 8 bytes per pair, which pays off only if many greedy orders
// are tried.
class ConflictGraph {
 public:
  // Requires: each pair is listed once, in one of its two orders.
  ConflictGraph(std::size_t buffers, const std::vector<PackingPair>& pairs);

  [[nodiscard]] std::span<const PackingId> neighbours(PackingId buffer) const { return neighbours_[buffer]; }
  [[nodiscard]] std::size_t pairs() const { return neighbours_.total() / 2; }

 private:
  IdLists<PackingId, PackingId> neighbours_;
};

// The graph of all conflicts. Returns nullopt if the effort ends before the last pair.
[[nodiscard]] std::optional<ConflictGraph> conflict_graph(const CompressedProblem& problem, Effort& effort);

// The number of pairs of buffers whose lifespans overlap, plus the pairs of the relation. This is an upper bound on the
// number of conflicts, and exact if no buffer has gaps. O(n log n), because it does not enumerate the pairs.
[[nodiscard]] std::int64_t count_overlapping_pairs(const CompressedProblem& problem);

}  // namespace lowtide::allocate_internal
