// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/budget/transfers/swap_problem.h"

namespace lowtide::budget_internal {

// An output that is outside between two runs that use it. All positions count runs.
struct Absence {
  SwapProblem::Index node = 0;
  std::uint32_t made = 0;    // the run that made it
  std::uint32_t before = 0;  // the last use before; `made` if none
  std::uint32_t after = 0;   // the next use; at least before + 2
};

// An output that is live from one run to another: since it was made or came back, up to its last use.
struct Stay {
  SwapProblem::Index node = 0;
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

// Leaves out runs and fetches that nothing needs, also those that only such runs need, and counts live bytes.
// O(items + reads).
class SwapScan {
 public:
  explicit SwapScan(const SwapProblem& problem);

  // Returns false if a run does not find its inputs, or a node that runs once runs again. Requires: each node is in
  // `items`, the end last.
  bool scan(const Items& items, ScannedSwaps& result);
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  // What later runs need of a node, seen from the end of the sequence. Positions count from the end.
  struct Need {
    std::uint32_t last_use = kNone;  // of the stay that is not complete; kNone: not live
    std::uint32_t absence = kNone;   // the first absence of its output; kNone: it is never outside
    bool is_away = false;            // it is outside, and its earlier use is not known yet
  };

  void place_fetches(const Items& items);
  // Returns false if fetches have to be placed again, because their readers are left out.
  bool walk_back(ScannedSwaps& result);
  void fetch(SwapProblem::Index node, std::uint32_t reader, ScannedSwaps& result);
  void run(SwapProblem::Index node, std::uint32_t here, ScannedSwaps& result);
  void use(SwapProblem::Index node, std::uint32_t here, ScannedSwaps& result);
  void complete(ScannedSwaps& result);

  const SwapProblem& problem_;
  std::vector<Need> needs_;                  // by node; reset between scans
  std::vector<std::uint32_t> left_;          // by node: its runs that are not yet scanned
  std::vector<std::uint32_t> first_use_;     // by node: the first use of the stay that is not complete
  std::vector<std::uint32_t> next_absence_;  // by absence: the next one of the same output
  Flags<SwapProblem::Index> has_run_;
  Flags<SwapProblem::Index> is_fetched_;
  Items placed_;
  std::int64_t live_ = 0;
  std::size_t needed_ = 0;
  bool is_misplaced_ = false;
  bool is_repeated_ = false;  // a node that runs once runs again
  std::int64_t work_ = 0;
};

}  // namespace lowtide::budget_internal
