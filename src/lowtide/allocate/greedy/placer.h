// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/allocate/greedy/gap_rule.h"
#include "lowtide/allocate/greedy/placed_index.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/placements.h"

namespace lowtide::allocate_internal {

// The arena while buffers are placed one after another, in any order. Fixed buffers are there from the start.
// Conflicts come from the graph where there is one (fast, many times over), else from the index over time (no memory a
// pair) and the pairs that the problem names. Both give the same answers.
class Placer {
 public:
  // `problem` and `graph` must outlive the placer; `graph` may be null.
  Placer(const CompressedProblem& problem, const ConflictGraph* graph);

  // Back to the fixed ones alone.
  void clear();

  // Where `buffer` would go. Nothing changes.
  [[nodiscard]] std::int64_t choose(PackingId buffer, GapRule rule, Effort& effort);

  // Require: not placed yet, and free there (what `choose` returned).
  void put(PackingId buffer, std::int64_t offset);

  // By buffer; empty where it is not placed.
  [[nodiscard]] const IdVector<PackingId, AddressRange>& ranges() const { return ranges_; }
  [[nodiscard]] const CompressedProblem& problem() const { return problem_; }

 private:
  void gather(PackingId buffer, Effort& effort);

  const CompressedProblem& problem_;
  const ConflictGraph* graph_;
  std::optional<PlacedIndex> index_;     // without a graph
  std::optional<ConflictGraph> paired_;  // without a graph: of the pairs that time knows nothing of, if there are any
  IdVector<PackingId, AddressRange> ranges_;
  std::vector<AddressRange> taken_;  // of the placed neighbours; kept for its memory
};

// Places the movable buffers in the given order, each by `rule`. Returns nullopt if the effort ends first.
// Cost: each pair in conflict is looked at once, when its second buffer is placed; O(pairs log(most neighbours)).
[[nodiscard]] std::optional<Placements> place_in_order(Placer& placer, std::span<const PackingId> order, GapRule rule,
                                                       Effort& effort);

}  // namespace lowtide::allocate_internal
