// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/effort.h"

namespace lowtide::allocate_internal {

// An edge clique cover of the conflicts: cliques (sets of buffers any two of which are in conflict) such that every
// conflict is in one of them. It replaces the time of a problem: a buffer is the set of its cliques, and two buffers
// may share bytes exactly if they share no clique.
//
//   a |==|    |==|       moments with most buffers: {a, b}, {b, c}, {a, c};
//   b   |=====|          a = {0, 2}, b = {0, 1}, c = {1, 2}: no order of the cliques
//   c       |====|       makes all three into intervals
class CliqueCover {
 public:
  [[nodiscard]] std::size_t cliques() const { return first_.size() - 1; }
  // By id.
  [[nodiscard]] std::span<const PackingId> members(std::size_t clique) const {
    return {members_.data() + first_[clique], first_[clique + 1] - first_[clique]};
  }

 private:
  friend class CoverBuilder;
  std::vector<std::size_t> first_ = {0};
  std::vector<PackingId> members_;
};

// What time says: the largest sets of buffers active at one moment; those within another one are left out. What pairs
// say: one pair after the other that is not covered yet grows into a clique, the largest common neighbour first (so
// that cliques are heavy, and their bound is high). Finding a cover with the fewest cliques is hard (Kou, Stockmeyer
// and Wong, 1978), and nothing here needs it. Only sets with a buffer that can be moved count.
// `graph` is of the problem; it is only read where there are pairs, and may be null where there are none.
// Returns nullopt if the effort ends first, or if the cliques would have more than `most_members` members together, or
// if pairs are among more than 8,192 buffers (a bit for each two of them).
[[nodiscard]] std::optional<CliqueCover> clique_cover(const CompressedProblem& problem, const ConflictGraph* graph,
                                                      std::size_t most_members, Effort& effort);

// The heaviest clique, sizes rounded up as far as alignments prove (load_bound.h, with a clique for a moment).
struct CliqueBound {
  std::int64_t height = 0;
  std::size_t clique = 0;
};
[[nodiscard]] CliqueBound clique_bound(const CompressedProblem& problem, const CliqueCover& cover);

}  // namespace lowtide::allocate_internal
