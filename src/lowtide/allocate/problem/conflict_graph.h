// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/effort.h"

namespace lowtide::allocate_internal {

// For each buffer that takes part, the others that are active at some moment when it is, or that a pair names with it:
// exactly those that it may not share bytes with. 8 bytes a pair, so only for problems of a size where many orders are
// tried.
class ConflictGraph {
 public:
  [[nodiscard]] std::span<const PackingId> neighbours(PackingId buffer) const {
    return {neighbours_.data() + first_[buffer.index()], first_[buffer.index() + 1] - first_[buffer.index()]};
  }
  [[nodiscard]] std::size_t pairs() const { return neighbours_.size() / 2; }

 private:
  friend ConflictGraph graph_of(std::size_t buffers, const std::vector<PackingPair>& pairs);
  std::vector<std::size_t> first_;  // buffer -> index into neighbours_; one more at the end
  std::vector<PackingId> neighbours_;
};

// Of exactly these pairs. Require: each is there once, in one order.
[[nodiscard]] ConflictGraph graph_of(std::size_t buffers, const std::vector<PackingPair>& pairs);

// Returns nullopt if the effort ends before the last pair.
[[nodiscard]] std::optional<ConflictGraph> conflict_graph(const CompressedProblem& problem, Effort& effort);

// Pairs of buffers whose hulls meet, and those that are named: an upper bound of the pairs in conflict, and exact
// without gaps. O(n log n): no pair is looked at.
[[nodiscard]] std::int64_t count_meeting_pairs(const CompressedProblem& problem);

}  // namespace lowtide::allocate_internal
