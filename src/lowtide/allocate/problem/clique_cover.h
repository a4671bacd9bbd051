// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "lowtide/allocate/problem/clique_id.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/id_lists.h"

namespace lowtide::allocate_internal {

// An edge clique cover of the conflicts: cliques such that both buffers of every conflict are in at least one of them.
// It replaces the time of a problem. A buffer is the set of its cliques, and two buffers may share bytes exactly if
// they have no clique in common.
//
//   a |==|    |==|       the largest sets that are live at one moment: {a, b}, {b, c}, {a, c};
//   b   |=====|          a = {0, 2}, b = {0, 1}, c = {1, 2}: no order of the cliques makes
//   c       |====|       all three buffers intervals
class CliqueCover {
 public:
  [[nodiscard]] std::size_t cliques() const { return members_.size(); }
  // Sorted by id.
  [[nodiscard]] std::span<const PackingId> members(CliqueId clique) const { return members_[clique]; }
  // The total number of members of all cliques.
  [[nodiscard]] std::size_t total_members() const { return members_.total(); }

  void append(std::span<const PackingId> members) { members_.append(members); }

 private:
  IdLists<CliqueId, PackingId> members_;
};

// With time, the cliques are the maximal sets of buffers that are active at one moment. With a relation, each pair that
// is not covered yet grows into a clique by repeatedly adding the largest common neighbour. This makes cliques heavy
// and their bound high. Finding a cover with the fewest cliques is NP-hard (Kou, Stockmeyer and Wong, 1978), and
// nothing here needs one. Sets of only fixed buffers are left out.
//
// `graph` is the conflict graph of the problem. It is read only if there are pairs, and may be null otherwise.
// Returns nullopt if the effort ends first, or if the cover or the relation is larger than tuning.h allows.
[[nodiscard]] std::optional<CliqueCover> clique_cover(const CompressedProblem& problem, const ConflictGraph* graph,
                                                      Effort& effort);

// The heaviest clique. Sizes are rounded up as far as alignments justify, as in load_bound.h, with cliques instead of
// moments.
struct CliqueBound {
  std::int64_t height = 0;
  CliqueId clique;
};
[[nodiscard]] CliqueBound clique_bound(const CompressedProblem& problem, const CliqueCover& cover);

}  // namespace lowtide::allocate_internal
