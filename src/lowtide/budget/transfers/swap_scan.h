// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/budget/problem/rules_from_end.h"
#include "lowtide/budget/transfers/swap_problem.h"

namespace lowtide::budget_internal {

// An entry that is outside between two runs that use it. All positions count runs.
struct Absence {
  static constexpr std::uint32_t kOutside = 0xFFFFFFFF;  // as a position: before all runs

  SwapProblem::Index entry = 0;
  std::uint32_t made = 0;    // the run that made it; kOutside for a fetched entry
  std::uint32_t before = 0;  // the last use before; `made` if none
  std::uint32_t after =
      0;  // the next use; at least before + 2, or before + 1 if the run before it wrote over the entry
};

// An entry that is live from one run to another: since it was made or came back, up to its last use.
struct Stay {
  SwapProblem::Index entry = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// A sequence with what is known about it. Loads are those of the shortest stays: outputs leave at once after a use, and
// come back right before the next one.
struct ScannedSwaps {
  Items items;  // each fetch right before its reader; the last one is the run of the end
  std::vector<SwapProblem::Index> runs;
  std::vector<std::int64_t> loads;  // by run
  std::vector<Stay> stays;          // that last longer than one run
  std::vector<Absence> absences;    // by `after`
  std::int64_t peak = 0;
  std::size_t peak_at = 0;
  double excess = 0;  // the sum of live bytes above the budget
};

// Leaves out runs and fetches that nothing needs, also those that only such runs need, and counts live bytes. Runs of
// groups stay. O(items + reads).
class SwapScan {
 public:
  explicit SwapScan(const SwapProblem& problem);

  // Returns false if a run does not find its inputs, or breaks a rule of the problem. Requires: each node that is not
  // fetched is in `items` as a run, the end last.
  bool scan(const Items& items, ScannedSwaps& result);
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  using Index = SwapProblem::Index;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  // What later runs need of an entry, seen from the end of the sequence. Positions count from the end.
  struct Need {
    std::uint32_t last_use = kNone;  // of the stay that is not complete; kNone: not live
    std::uint32_t absence = kNone;   // the first absence of its output; kNone: it is never outside
    bool is_away = false;            // it is outside, and its earlier use is not known yet

    [[nodiscard]] bool is_needed() const { return last_use != kNone || is_away; }
  };

  void place_fetches(const Items& items);
  // Returns false if fetches have to be placed again, because their readers are left out.
  bool walk_back(ScannedSwaps& result);
  void fetch(Index entry, std::uint32_t reader, ScannedSwaps& result);
  void run(Index node, std::uint32_t here, ScannedSwaps& result);
  void use(Index entry, std::uint32_t here, ScannedSwaps& result);
  void make(Index entry, std::uint32_t here, ScannedSwaps& result);
  void begin_outside(Index entry, ScannedSwaps& result);
  void take_absences(Index entry, std::uint32_t made, ScannedSwaps& result);
  [[nodiscard]] bool must_stay_for_more(Index node) const;
  [[nodiscard]] bool keeps_rules(Index node);
  void complete(ScannedSwaps& result);
  void add_seeds(ScannedSwaps& result);

  const SwapProblem& problem_;
  RulesFromEnd rules_;
  std::vector<Need> needs_;                  // by entry; reset between scans
  std::vector<std::uint32_t> left_;          // by run: its runs that are not yet scanned
  std::vector<std::uint32_t> first_use_;     // by entry: the first use of the stay that is not complete
  std::vector<std::uint32_t> next_absence_;  // by absence: the next one of the same output
  Flags<Index> has_run_;
  Flags<Index> comes_back_;  // by entry
  Items placed_;
  std::vector<std::int64_t> changes_;  // by position: bytes of seeds
  Index running_ = 0;
  std::int64_t live_ = 0;
  std::size_t needed_ = 0;
  bool is_misplaced_ = false;
  bool is_broken_ = false;  // a rule of the problem
  std::int64_t work_ = 0;
};

}  // namespace lowtide::budget_internal
