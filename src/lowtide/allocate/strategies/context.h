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
#include "lowtide/allocate/problem/stopping_rule.h"
#include "lowtide/allocate/problem/structure_bound.h"

namespace lowtide::allocate_internal {

// What the strategies of one run share: the problem, the best answer so far, the effort that is left, and facts that
// are too expensive to find twice.
struct StrategyContext {
  const CompressedProblem& problem;
  StoppingRule& stopping;
  Incumbent& best;
  Effort& effort;
  int threads = 1;
  ConflictFacts facts;         // the cover moves into `exact`, which makes one itself if there is none
  std::int64_t pairs = 0;      // an upper bound of the number of conflicts; counted by `prepare`
  std::int64_t decisions = 0;  // of all exact searches
  std::optional<ExactProblem> exact = std::nullopt;  // made by `exact_task`
  std::optional<Descent> descent = std::nullopt;     // of `exact`, if the problem is not too large for a search

  // Counts the pairs, and sets up the exact search.
  void prepare();

  // The graph of the conflicts, made when it is first needed. Null if it would be too large. Then conflicts are found
  // by time.
  const ConflictGraph* graph();

  // The graph of the relation that replaces time. Null if time decides, or if the graph would be too large.
  [[nodiscard]] const ConflictGraph* relation() const {
    return !problem.pairs.empty() && facts.graph ? &*facts.graph : nullptr;
  }

  // The problem in the form of the exact search. Null if there is nothing to search for, or if it is too large.
  const SearchTask* exact_task();

  // Whether lifespans decide, and the problem is too large for an exact search. As of `prepare`.
  [[nodiscard]] bool is_large() const { return !descent && problem.has_time(); }

  // Asks a descent for the target, or for heights between the target and the best. Does nothing if the descent is null.
  // Passes a bound that the descent has raised on to the stopping rule.
  void search_target(Descent* with, std::int64_t limit);
  void search_between(Descent* with, std::int64_t limit);

  [[nodiscard]] bool is_over() const { return stopping.stops_at(best.height()) || effort.exhausted(); }
};

}  // namespace lowtide::allocate_internal
