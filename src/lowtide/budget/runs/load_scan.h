// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/budget/problem/rules_from_end.h"
#include "lowtide/budget/problem/run_problem.h"

namespace lowtide::budget_internal {

// What the live bytes of a sequence are.
struct Loads {
  bool is_valid = false;    // every run finds its inputs, everything runs, and all rules of the problem are kept
  std::int64_t cost = 0;    // with reruns
  std::int64_t peak = 0;    // the largest number of live bytes of a run
  std::size_t peak_at = 0;  // the first run that has it
  double excess = 0;        // the sum over all runs of the live bytes above the budget
};

// Counts live bytes by one walk from the end of a sequence to its begin. There, an output is needed from its last
// reader back to the run that makes it. O(runs + reads) per sequence, about 1 ns each.
class LoadScan {
 public:
  explicit LoadScan(const RunProblem& problem)
      : problem_(problem),
        rules_(problem),
        is_needed_(problem.count()),
        has_run_(problem.count()),
        left_(problem.count()),
        has_seed_(problem.count()) {}

  // If `loads` is given, it receives the live bytes of each run. Requires: `runs` has only runs.
  Loads scan(const Runs& runs, std::vector<std::int64_t>* loads = nullptr);

 private:
  using Index = RunProblem::Index;

  // Whether a run may be here, seen from the end: what it writes over is needed no more, and no run that must come
  // before it is later.
  [[nodiscard]] bool keeps_rules(Index run);
  // The bytes of the seed that begin to be live at a run, seen from the end, or cease to be.
  void begin_seed(Index run, std::int64_t& live);
  void end_seed(Index run, std::int64_t& live);

  const RunProblem& problem_;
  RulesFromEnd rules_;
  std::vector<char> is_needed_;         // by entry; all 0 between scans
  std::vector<std::uint32_t> has_run_;  // the number of the last scan that met the run
  std::vector<std::uint32_t> left_;     // by run: its runs that are not yet met; only with seeds
  std::vector<char> has_seed_;          // by run: its seed is live; only with seeds
  std::uint32_t number_ = 0;
};

}  // namespace lowtide::budget_internal
