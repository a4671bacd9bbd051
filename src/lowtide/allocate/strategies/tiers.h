// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/goal.h"
#include "lowtide/allocate/problem/incumbent.h"

namespace lowtide {

// Lowers the best placements of problems whose sizes are far apart, as those of real networks are: a few hundred
// tensors of megabytes, and a thousand scalars that live long. To a search they are all alike, and a scalar in the
// wrong place costs a megabyte.
//
//   target --------------         The large ones alone, with all strategies. Then the small ones around them, which
//     |AAA|CCCCCC| BBBB |         stay where they are: the bytes that are left at the busiest moment all lie below
//     |AAA|CCCCCC+------+         (or above), and there the small ones that live at that moment find them.
//     +---+------+  s   |
//   0 +----s-----+------+
//
// What is small: the largest size such that all below it together have at most a 64th, then a 16th, then a 256th of the
// target alive at once, and they are an eighth of all. Only problems where time decides conflicts.
class Tiers {
 public:
  // References must outlive the tiers; `graph` may be null.
  Tiers(const CompressedProblem& problem, const ConflictGraph* graph, const Goal& goal, int threads)
      : problem_(problem), graph_(graph), goal_(goal), threads_(threads) {}

  // The next division, with an effort of about `limit`. True if `best` became lower.
  bool lower(Incumbent& best, std::int64_t limit, Effort& effort);

 private:
  struct Division {
    std::int64_t threshold = 0;  // sizes below are small
    bool is_done = false;        // more effort gives nothing else
  };

  void divide();
  [[nodiscard]] std::int64_t threshold_for(std::int64_t most) const;
  [[nodiscard]] std::int64_t load_below(std::int64_t threshold) const;
  bool add_small(const CompressedProblem& small, Incumbent& best, Effort& effort) const;

  const CompressedProblem& problem_;
  const ConflictGraph* graph_;
  const Goal& goal_;
  int threads_;
  bool is_divided_ = false;
  std::vector<Division> divisions_;
  std::size_t next_ = 0;
};

}  // namespace lowtide
