// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/structure_bound.h"

#include <span>

#include "lowtide/allocate/problem/load_bound.h"
#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {

ConflictFacts facts_of_relation(const CompressedProblem& problem, Effort& effort) {
  ConflictFacts facts;
  if (problem.pairs.empty() || count_overlapping_pairs(problem) > tuning::kGraphMostPairs) return facts;
  facts.graph = conflict_graph(problem, effort);
  if (facts.graph) facts.cover = clique_cover(problem, &*facts.graph, effort);
  return facts;
}

StructureBound structure_bound(const CompressedProblem& problem, const ConflictFacts& facts) {
  const HeightBound load = height_bound(problem);
  StructureBound bound{.height = load.height};
  if (problem.has_time()) bound.time = problem.times[load.witness];
  if (!facts.cover) return bound;
  const CliqueBound heaviest = clique_bound(problem, *facts.cover);
  if (heaviest.height <= bound.height) return bound;
  bound.height = heaviest.height;
  const std::span<const PackingId> members = facts.cover->members(heaviest.clique);
  bound.clique.assign(members.begin(), members.end());
  return bound;
}

}  // namespace lowtide::allocate_internal
