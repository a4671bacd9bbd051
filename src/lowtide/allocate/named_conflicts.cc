// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/named_conflicts.h"

#include <cstddef>
#include <span>

#include "lowtide/allocate/load_bound.h"

namespace lowtide {
namespace {

constexpr std::int64_t kMostNamedPairs = 16'000'000;  // 128 MB
constexpr std::size_t kMostNamedMembers = 1'000'000;

}  // namespace

NamedConflicts named_conflicts(const CompressedProblem& problem, Effort& effort) {
  NamedConflicts named;
  if (problem.pairs.empty() || count_meeting_pairs(problem) > kMostNamedPairs) return named;
  named.graph = conflict_graph(problem, effort);
  if (named.graph) named.cover = clique_cover(problem, &*named.graph, kMostNamedMembers, effort);
  return named;
}

StructureBound structure_bound(const CompressedProblem& problem, const NamedConflicts& named) {
  const HeightBound load = height_bound(problem);
  StructureBound bound{.height = load.height, .witness = load.witness};
  if (!named.cover) return bound;
  const CliqueBound cliques = clique_bound(problem, *named.cover);
  if (cliques.height <= bound.height) return bound;
  bound.height = cliques.height;
  const std::span<const PackingId> members = named.cover->members(cliques.section);
  bound.clique.assign(members.begin(), members.end());
  return bound;
}

}  // namespace lowtide
