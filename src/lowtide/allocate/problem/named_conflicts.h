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

// What is known of conflicts before the first strategy: where pairs are named, time alone shows neither conflicts nor
// bound.
struct NamedConflicts {
  std::optional<ConflictGraph> graph;
  std::optional<CliqueCover> cover;
};

// Empty if no relation replaces time. Either part may be missing, if it would be too large or the effort ends.
[[nodiscard]] NamedConflicts named_conflicts(const CompressedProblem& problem, Effort& effort);

// What moments, sizes, fixed ends and cliques prove.
struct StructureBound {
  std::int64_t height = 0;
  std::optional<std::int64_t> time;  // of the largest load; nullopt if a relation replaces time
  std::vector<PackingId> clique;     // if it proves more than the load: any two of them are in conflict
};
[[nodiscard]] StructureBound structure_bound(const CompressedProblem& problem, const NamedConflicts& named);

}  // namespace lowtide::allocate_internal
