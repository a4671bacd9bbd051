// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/named_conflicts.h"

#include <cstddef>
#include <span>

#include "lowtide/allocate/problem/load_bound.h"
#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {
NamedConflicts named_conflicts(const CompressedProblem& problem, Effort& effort) {
  NamedConflicts named;
  if (problem.pairs.empty() || count_meeting_pairs(problem) > tuning::kGraphMostPairs) return named;
  named.graph = conflict_graph(problem, effort);
  if (named.graph) named.cover = clique_cover(problem, &*named.graph, tuning::kCoverMostMembers, effort);
  return named;
}

StructureBound structure_bound(const CompressedProblem& problem, const NamedConflicts& named) {
  const HeightBound load = height_bound(problem);
  StructureBound bound{.height = load.height};
  if (!problem.times.empty()) bound.time = problem.times[load.witness];
  if (!named.cover) return bound;
  const CliqueBound cliques = clique_bound(problem, *named.cover);
  if (cliques.height <= bound.height) return bound;
  bound.height = cliques.height;
  const std::span<const PackingId> members = named.cover->members(cliques.clique);
  bound.clique.assign(members.begin(), members.end());
  return bound;
}

}  // namespace lowtide::allocate_internal
