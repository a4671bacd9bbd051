// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lowtide/budget/problem/run_problem.h"

namespace lowtide::budget_internal {

// The rules of a problem about the order of runs, for a walk from the end of a sequence to its begin: what must come
// before what, and the agreed sequences of groups. What a run writes over is up to the walk, which knows what is needed
// later.
class RulesFromEnd {
 public:
  using Index = RunProblem::Index;

  explicit RulesFromEnd(const RunProblem& problem) : problem_(problem) {}

  void begin() {
    left_.clear();
    for (const Runs& group : problem_.groups()) left_.push_back(group.size());
  }

  // Whether the next run of the walk may be there. `has_run(node)`: whether the walk has met a run of a node.
  template <typename HasRun>
  [[nodiscard]] bool keep(Index run, HasRun has_run) {
    for (Index reader : problem_.readers_before(run)) {
      if (has_run(reader)) return false;
    }
    const Index group = problem_.group_of(run);
    if (group == RunProblem::kNone) return true;
    if (left_[group] == 0) return false;
    return problem_.groups()[group][--left_[group]] == run;
  }

  // Whether the walk has met all runs of all groups.
  [[nodiscard]] bool are_groups_done() const {
    return std::all_of(left_.begin(), left_.end(), [](std::size_t left) { return left == 0; });
  }

 private:
  const RunProblem& problem_;
  std::vector<std::size_t> left_;  // by group: its runs that are not yet met
};

}  // namespace lowtide::budget_internal
