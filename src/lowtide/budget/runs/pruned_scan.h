// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/budget/problem/run_problem.h"

namespace lowtide::budget_internal {

// A sequence with what is known about it.
struct ScannedRuns {
  // The last run that needs an output of a run, or that run itself if none does.
  [[nodiscard]] std::uint32_t last_use_of(std::size_t run, std::uint32_t slot) const {
    return slot == 0 ? last_use[run] : part_uses[run * most_parts + slot - 1];
  }

  Runs runs;
  std::vector<std::int64_t> loads;       // by run: live bytes
  std::vector<std::uint32_t> last_use;   // by run: the last use of its output
  std::vector<std::uint32_t> part_uses;  // by run and part: the last use of the part
  std::size_t most_parts = 0;
  std::int64_t cost = 0;
  std::int64_t peak = 0;
  std::size_t peak_at = 0;
  double excess = 0;  // the sum of live bytes above the budget
};

// Scans as LoadScan does, but leaves out reruns that nothing needs, also those that only such reruns need. Those of
// groups stay. It does not look at the rules of the problem, and does not count seeds: a sequence that LoadScan accepts
// is accepted without such reruns, too.
class PrunedScan {
 public:
  explicit PrunedScan(const RunProblem& problem)
      : problem_(problem),
        needed_by_(problem.count(), kNothing),
        left_(problem.count(), 0),
        has_run_(problem.count()) {}

  // Returns false if a run does not find its inputs. Requires: each node is in `runs`.
  bool scan(const Runs& runs, ScannedRuns& result);
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  using Index = RunProblem::Index;
  static constexpr std::uint32_t kNothing = 0xFFFFFFFF;

  // Takes the last uses of what a run makes. Returns false if it has none.
  bool take_uses(Index run, std::uint32_t here, ScannedRuns& result, std::int64_t& live);

  const RunProblem& problem_;
  std::size_t needed_ = 0;                // entries
  std::vector<std::uint32_t> needed_by_;  // by entry: the last run that needs it, counted from the end
  std::vector<std::uint32_t> left_;       // by node: its runs that are not yet scanned
  Flags<RunProblem::Index> has_run_;      // by node: a later run of it remains; all reset between scans
  std::int64_t work_ = 0;
};

}  // namespace lowtide::budget_internal
