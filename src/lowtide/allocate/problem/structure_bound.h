// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/allocate/problem/clique_cover.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/effort.h"

namespace lowtide::allocate_internal {

// What is known about the conflicts of a problem.
struct ConflictFacts {
  std::optional<ConflictGraph> graph;
  std::optional<CliqueCover> cover;
};

// The facts of a relation, which are needed before the first strategy because time shows neither its conflicts nor a
// bound. Empty if no relation replaces time. The graph or the cover is missing if it would be too large, or if the
// effort ends first.
[[nodiscard]] ConflictFacts facts_of_relation(const CompressedProblem& problem, Effort& effort);

// The bound that follows from loads, sizes, fixed ends and cliques, without a search.
struct StructureBound {
  std::int64_t height = 0;
  std::optional<std::int64_t> time;  // of the largest load; nullopt if a relation replaces time
  std::vector<PackingId> clique;     // if it proves more than the load: buffers any two of which are in conflict
};
[[nodiscard]] StructureBound structure_bound(const CompressedProblem& problem, const ConflictFacts& facts);

}  // namespace lowtide::allocate_internal
