// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/budget/transfers/swap_scan.h"

namespace lowtide::budget_internal {

// Chooses the positions of transfers and fetches, and counts the time (plan/transfers.h).
//
// Outputs leave as soon as they are made, and those that are used last before they leave go first. Bytes that are
// free beside the shortest stays let a copy take longer. If they are used up, the next run waits for the copy that
// ends first. Copies in are the same seen from the end: they come as late as possible, and as early as the free bytes
// permit. Each link has a queue of copies in.
class TransferClock {
 public:
  explicit TransferClock(const SwapProblem& problem)
      : problem_(problem), queues_(problem.link_count()), latest_(problem.count(), 0) {}

  // The time of the sequence in nanoseconds, or kForever. Requires: swaps as SwapScan returns them. If loads exceed the
  // budget, so do they with the transfers. O(runs + absences x (log absences + links)).
  std::int64_t time(const ScannedSwaps& swaps);
  // The results of the last call.
  [[nodiscard]] std::vector<Transfer> transfers(const ScannedSwaps& swaps) const;  // by issue
  [[nodiscard]] std::vector<Fetch> fetches() const;                                // by issue
  // Without the bytes of states.
  [[nodiscard]] std::int64_t peak(const ScannedSwaps& swaps) const;
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  using Index = SwapProblem::Index;

  // Copies whose positions are not yet chosen.
  struct CopyOut {
    Index entry = 0;
    std::uint32_t made = 0;
    std::uint32_t use = 0;     // the last use before the output leaves
    std::uint32_t limit = 0;   // the last run before which it must be complete
    std::uint32_t number = 0;  // its place in the order of absences
    std::uint32_t issue = 0;
    std::uint32_t complete = 0;
    std::int64_t edge = 0;  // while positions are chosen: when it ends
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  struct CopyIn {
    Index entry = 0;
    std::uint32_t made = 0;
    std::uint32_t out = 0;       // the number of its copy out; not of a fetched entry
    std::uint32_t limit = 0;     // the first run from which on it may be live
    std::uint32_t live = 0;      // the run from which on it is live: it is issued right before
    std::uint32_t complete = 0;  // the next use
    std::uint32_t later = 0;     // while positions are chosen: the copy in its queue that is issued before it
    std::int64_t edge = 0;       // while positions are chosen: when it begins
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  // Copies in over one link that have a begin but no position yet, from the last one to the first one.
  struct Queue {
    std::uint32_t last = kNone;
    std::uint32_t first = kNone;
    std::uint32_t limit = 0;  // no limit of them is later
    std::size_t due = 0;      // how many have to get their positions
    std::int64_t free = 0;    // when the link has no other copy
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  void collect(const ScannedSwaps& swaps);
  void collect_out(const Absence& absence);
  void collect_fetch(const Absence& absence);
  void sort_outs();
  void place_outs(const ScannedSwaps& swaps);
  void place_ins(const ScannedSwaps& swaps);
  void find_due(Queue& queue, std::uint32_t at) const;
  // The link whose last copy is issued after a run, or kNone if all may wait for an earlier place.
  [[nodiscard]] std::uint32_t next_link(std::uint32_t at) const;
  void issue_last(std::uint32_t link, std::uint32_t live);
  void enqueue(std::uint32_t number, std::int64_t end);
  std::int64_t count_time(const ScannedSwaps& swaps);

  const SwapProblem& problem_;
  std::vector<CopyOut> outs_;
  std::vector<CopyIn> ins_;              // by their next use, and later by their issue
  std::vector<Queue> queues_;            // by link
  std::vector<std::uint32_t> waiting_;   // links whose queues are not empty
  std::size_t waiting_copies_ = 0;       // in all queues
  std::int64_t waiting_bytes_ = 0;       // of them
  std::int64_t shift_ = 0;               // by how much earlier what comes before begins, because of waits
  std::vector<std::uint32_t> latest_;    // by entry: the number of its latest copy out
  std::vector<std::uint32_t> place_of_;  // by number: the place of a copy out
  std::vector<std::int64_t> slack_;      // by run: bytes that are free beside the stays and the copies so far
  std::vector<std::int64_t> begins_;     // by run
  std::vector<std::int64_t> ends_;       // by run
  std::vector<std::int64_t> wait_;       // by run: when the copies that it waits for have ended
  std::vector<std::int64_t> out_wait_;
  std::int64_t work_ = 0;
};

}  // namespace lowtide::budget_internal
