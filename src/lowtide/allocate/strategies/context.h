// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/allocate/exact/exact_problem.h"
#include "lowtide/allocate/improve/descent.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/incumbent.h"
#include "lowtide/allocate/problem/named_conflicts.h"
#include "lowtide/allocate/problem/stopping_rule.h"

namespace lowtide::allocate_internal {

// What the strategies of one run share: the problem, the best answer so far, the effort that is left, and facts that
// are too expensive to find twice.
struct StrategyContext {
  const CompressedProblem& problem;
  StoppingRule& stopping;
  Incumbent& best;
  Effort& effort;
  int threads = 1;
  NamedConflicts conflicts;    // the cover moves into `exact`, which makes one itself if there is none
  std::int64_t pairs = 0;      // that live together or are named; counted by `prepare`
  std::int64_t decisions = 0;  // of all exact searches
  std::optional<ExactProblem> exact = std::nullopt;  // made by `exact_task`
  std::optional<Descent> descent = std::nullopt;     // of `exact`, if a search can reach anything there

  // Counts the pairs, keeps the conflicts if they fit into memory, and sets up the exact search.
  void prepare();

  // The problem as the exact search wants it. Null if there is nothing to search for, or too much.
  const SearchTask* exact_task();

  // Asks a descent for the target, and for heights between target and best. Null does nothing. A bound that the descent
  // raises goes to the stopping rule.
  void search_target(Descent* with, std::int64_t limit);
  void search_between(Descent* with, std::int64_t limit);

  // Null where there is no space for a graph: conflicts are then found by time.
  [[nodiscard]] const ConflictGraph* graph() const { return conflicts.graph ? &*conflicts.graph : nullptr; }
  [[nodiscard]] bool is_over() const { return stopping.stops_at(best.height()) || effort.exhausted(); }
};

}  // namespace lowtide::allocate_internal
