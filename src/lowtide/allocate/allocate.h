// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

struct AllocateOptions {
  // Work units (pairs of buffers looked at) after which no further strategy is started and the one under way is
  // abandoned; the first always ends. Counted, not timed, so that the answer is the same on every machine. A unit is
  // 10 to 30 ns. Most networks need a millionth of it, because the first strategy meets the bound.
  std::int64_t effort = 200'000'000;
};

// Gives every buffer an offset so that two that live together share no byte. Three questions, one engine: without a
// capacity, the lowest height that the effort finds; with one, the first offsets that fit it. What these find is kept, tried
// in turn until nothing is left to gain (the capacity holds, or the height reaches the bound, or the same multiple of the
// smallest alignment as the bound):
//   best_fit            a sweep over time; near-linear, any size
//   greedy_by_size, greedy_by_breadth, greedy_by_breadth_last_end, greedy_by_lifespan, greedy_by_area
//                       one buffer after the other into the lowest gap, or, with `_tightest` behind the name, into the
//                       tightest; each looks at every pair that lives together once; a quarter of the effort at most
//   search              exact (valley_search.h), without gaps and fixed buffers; first for the bound or the capacity, then
//                       for heights between the bound and the best (descent.h)
//   ejection            a local search from the lowest so far (ejection.h); takes turns with `search`
// The bound is the largest load, sizes rounded up as far as alignments prove (load_bound.h), or the highest end of a
// fixed buffer; `witness_time` is the moment that shows it, also when it exceeds the capacity (infeasible). Where the exact
// search refutes a height, the bound rises above that.
// Deterministic. docs/algorithms/packing.md tells why it is built like this, with figures.
// Errors: invalid, for a buffer that is not as PackingBuffer says and for fixed offsets that are below 0, misaligned or
// collide; over_limit, for sizes and padding that add up to more than limits::kMaxTotalBytes.
[[nodiscard]] Result<Packing> allocate(const PackingProblem& problem, const AllocateOptions& options = {});

}  // namespace lowtide
