// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/budget/transfers/swap_scan.h"

namespace lowtide::budget_internal {

// Chooses the positions of transfers, and counts the time (plan/transfers.h).
//
// Outputs leave as soon as they are made, and those that are used last before they leave go first. Bytes that are
// free beside the shortest stays let a copy take longer. If they are used up, the next run waits for the copy that
// ends first. Copies in are the same seen from the end: they come as late as possible, and as early as the free bytes
// permit.
class TransferClock {
 public:
  explicit TransferClock(const SwapProblem& problem) : problem_(problem) {}

  // The time of the sequence in nanoseconds, or kForever. Requires: swaps as SwapScan returns them. If loads exceed the
  // budget, so do they with the transfers. O(runs + absences x log absences).
  std::int64_t time(const ScannedSwaps& swaps);
  // The results of the last call.
  [[nodiscard]] std::vector<Transfer> transfers() const;  // by issue
  [[nodiscard]] std::int64_t peak(const ScannedSwaps& swaps) const;
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  // A copy whose positions are not yet chosen. Copies in count time from the end of the sequence.
  struct Copy {
    SwapProblem::Index node = 0;
    std::uint32_t made = 0;
    std::uint32_t use = 0;    // out: the last use before the output leaves; in: the next use
    std::uint32_t limit = 0;  // out: the last run before which it must be complete; in: the first one to issue it after
    std::uint32_t issue = 0;
    std::uint32_t complete = 0;
    std::int64_t edge = 0;  // while positions are chosen: when a copy out ends, or a copy in begins
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  void collect(const ScannedSwaps& swaps);
  void place_outs(const ScannedSwaps& swaps);
  void place_ins(const ScannedSwaps& swaps);
  std::int64_t count_time(const ScannedSwaps& swaps);

  const SwapProblem& problem_;
  std::vector<Copy> outs_;
  std::vector<Copy> ins_;
  std::vector<std::uint32_t> out_of_;  // by run: its copy out, or none
  std::vector<std::int64_t> slack_;    // by run: bytes that are free beside the stays and the copies so far
  std::vector<std::int64_t> begins_;   // by run
  std::vector<std::int64_t> ends_;     // by run
  std::vector<std::int64_t> wait_;     // by run: when the copies that it waits for have ended
  std::vector<std::int64_t> out_wait_;
  std::int64_t work_ = 0;
};

}  // namespace lowtide::budget_internal
