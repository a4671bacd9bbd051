// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/allocate/exact/capacity_search.h"
#include "lowtide/allocate/exact/fit_search.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/incumbent.h"

namespace lowtide::allocate_internal {

// Lowers the best placements by asking an exact search whether the buffers fit a lower capacity. It asks for the
// lowest capacity first. On real problems that is often the easiest question, because the heaviest cliques may waste
// nothing, which leaves few options. If it stays undecided, capacities between the target and the best height follow.
// After each one that stays undecided, the next one is closer to the best height. If all of them stay undecided, the
// next ones get more effort.
class Descent {
 public:
  // `problem` and its `task` must outlive the descent. No packing is lower than `bound`, and no capacity below `target`
  // is asked for. Requires: bound <= target.
  Descent(const CompressedProblem& problem, const SearchTask& task, std::int64_t bound, std::int64_t target,
          int threads = 1);

  // Asks whether the target can be reached, until that is decided or the effort ends. Spends at most `share` and one
  // more round. Continues where the last call stopped. If the target is the bound, it rises with the bound. Returns
  // true if `best` has become lower. `bound` may have risen.
  bool try_target(Incumbent& best, std::int64_t share, Effort& effort);

  // Asks for one capacity between the target and the best height. Returns true if `best` has become lower. `bound` may
  // have risen.
  bool step(Incumbent& best, Effort& effort);

  // The given bound, or a higher one if the search has refuted the capacities below.
  [[nodiscard]] std::int64_t bound() const { return bound_; }
  [[nodiscard]] std::int64_t nodes() const { return at_target_.nodes() + between_.nodes(); }

 private:
  void refute(std::int64_t capacity);
  bool take(const CapacitySearch& search, Incumbent& best) const;

  const CompressedProblem& problem_;
  const SearchTask& task_;
  CapacitySearch at_target_;
  CapacitySearch between_;
  std::int64_t grain_ = 1;  // SearchTask::grain
  std::int64_t bound_ = 0;
  std::int64_t target_ = 0;
  std::int64_t divisor_ = 2;  // the next step lowers the height by its distance to the target, divided by this
  std::int64_t rounds_ = 1;   // of the search, after which a step counts as undecided
};

}  // namespace lowtide::allocate_internal
