// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>

#include "lowtide/allocate/exact/cover_state.h"
#include "lowtide/allocate/exact/fit_search.h"
#include "lowtide/allocate/exact/interval_problem.h"
#include "lowtide/allocate/problem/clique_cover.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/effort.h"

namespace lowtide::allocate_internal {

// A problem in the form that an exact search works on: intervals of cliques for plain lifespans, otherwise sets of
// cliques.
class ExactProblem {
 public:
  // `cover` is the problem's clique cover, if it is already known. Otherwise a cover is made when it is needed.
  ExactProblem(const CompressedProblem& problem, std::optional<CliqueCover> cover, Effort& effort);

  // Uses sets of cliques even for plain lifespans.
  static std::unique_ptr<ExactProblem> of_sets(const CompressedProblem& problem, Effort& effort);
  ~ExactProblem() = default;
  ExactProblem(const ExactProblem&) = delete;
  ExactProblem& operator=(const ExactProblem&) = delete;

  [[nodiscard]] bool is_of_intervals() const { return intervals_.has_value(); }
  // Returns null if there is nothing to search for, or if the problem is too large for a search.
  [[nodiscard]] const SearchTask* task() const { return task_ ? &*task_ : nullptr; }

 private:
  ExactProblem() = default;
  void take_sets(const CompressedProblem& problem, std::optional<CliqueCover> cover, Effort& effort);

  std::optional<IntervalProblem> intervals_;
  std::optional<CoverProblem> cover_;
  std::optional<SearchTask> task_;  // refers to intervals_ or cover_
};

}  // namespace lowtide::allocate_internal
