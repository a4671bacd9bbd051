// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide::testing {

// A plan that was correct, and its graph. One of the two is damaged.
struct Mutant {
  std::shared_ptr<const Graph> graph;
  Plan plan;
};

struct MutationKind {
  const char* name;
  bool (*apply)(Random& random, Mutant& mutant);  // false: nothing to damage this way; the mutant is then of no use
  // Arena and claims are made true again after the damage, so that a wrong total does not reveal it.
  bool covers_up = true;
};
// Lets gtest print the name.
inline void PrintTo(const MutationKind& kind, std::ostream* out) { *out << kind.name; }

[[nodiscard]] std::vector<MutationKind> placement_mutations();  // offsets, sizes, lifespans, regions
[[nodiscard]] std::vector<MutationKind> sharing_mutations();    // values, aliases, in-place results, roles
[[nodiscard]] std::vector<MutationKind> program_mutations();    // steps, reads and writes
[[nodiscard]] std::vector<MutationKind> claim_mutations();      // numbers, provenance, bodies, the graph itself
[[nodiscard]] std::vector<MutationKind> copy_mutations();       // copies, links, streams, waits, outputs, states

// Returns a random id for which the predicate holds, each with equal chance. Returns nullopt if there is none.
template <typename IdType, typename Predicate>
std::optional<IdType> some_id(Random& random, std::size_t count, const Predicate& predicate) {
  std::vector<IdType> fitting;
  for (IdType id : all_ids<IdType>(count)) {
    if (predicate(id)) fitting.push_back(id);
  }
  return fitting.empty() ? std::nullopt : std::optional(fitting[random.below(fitting.size())]);
}

}  // namespace lowtide::testing
