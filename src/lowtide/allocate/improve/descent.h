// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/allocate/exact/capacity_search.h"
#include "lowtide/allocate/exact/fit_search.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/incumbent.h"

namespace lowtide::allocate_internal {

// Lowers the best placements by asking, again and again, whether a lower capacity holds the buffers. Lowest first: on
// real problems the bound itself is often the easiest question, because nothing may be wasted at the busiest cliques
// and few options are left. Where it stays open, capacities between the bound and the best follow, each with more
// effort than the last one that failed.
class Descent {
 public:
  // `problem` and `task`, which is of it, must outlive the descent. `bound`: no packing is lower. `target`: nothing
  // lower is asked for. Require: bound <= target.
  Descent(const CompressedProblem& problem, const SearchTask& task, std::int64_t bound, std::int64_t target,
          int threads = 1);

  // Whether the target can be reached, until that is decided or the effort ends, or `share` of it and the round after
  // that; goes on where the last call stopped. A target that is the bound rises with it. True if `best` has changed;
  // `bound` may have risen.
  bool try_target(Incumbent& best, std::int64_t share, Effort& effort);

  // One capacity between target and best. True if `best` has changed; `bound` may have risen.
  bool step(Incumbent& best, Effort& effort);

  // No packing is lower: as given, or the search has refuted everything below.
  [[nodiscard]] std::int64_t bound() const { return bound_; }
  [[nodiscard]] std::int64_t nodes() const { return at_target_.nodes() + between_.nodes(); }

 private:
  void refute(std::int64_t capacity);
  bool take(const CapacitySearch& search, Incumbent& best) const;

  const CompressedProblem& problem_;
  const SearchTask& task_;
  CapacitySearch at_target_;
  CapacitySearch between_;
  std::int64_t grain_ = 1;  // every height of a packing that rests is a multiple
  std::int64_t bound_ = 0;
  std::int64_t target_ = 0;
  std::int64_t divisor_ = 2;  // of the gap: how much is asked for
  std::int64_t rounds_ = 1;   // of the search, before a question counts as open
};

}  // namespace lowtide::allocate_internal
