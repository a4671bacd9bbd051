// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

struct AllocateOptions {
  // Work units (pairs of buffers looked at) after which no further strategy is started and the one under way is
  // abandoned; the first always ends. Counted, not timed, so that the answer is the same on every machine. A unit is
  // 10 to 30 ns. Most networks need a millionth of it, because the first strategy meets the bound. More effort never
  // gives a higher answer: it goes on where less would have stopped.
  std::int64_t effort = 200'000'000;

  // At most so many threads at once. The answer is the same with any number; 1 starts none.
  int threads = 1;

  // Called with every answer that is lower than the one before, from the calling thread; the last is what is returned,
  // but for what a search proves afterwards. Must not throw. A copy of all offsets a call.
  std::function<void(const Packing&)> on_improvement;

  // Once it is true, the best so far is returned, at the latest after the strategy that always ends. Looked at often
  // (at most some milliseconds pass). May be set from another thread or a signal handler. Null: nobody interrupts.
  const std::atomic<bool>* stop = nullptr;
};

// Gives every buffer an offset so that two that are in conflict (PackingProblem) share no byte. Three questions, one
// engine: without a capacity, the lowest height that the effort finds; with one, the first offsets that fit it. What
// these find is kept, tried in turn until nothing is left to gain (the capacity holds, or the height reaches the bound,
// or the same multiple of the smallest alignment as the bound):
//   best_fit            a sweep over time; near-linear, any size; not where pairs are named, since time knows nothing of them
//   greedy_by_size, greedy_by_breadth, greedy_by_breadth_last_end, greedy_by_lifespan, greedy_by_area
//                       one buffer after the other into the lowest gap, or, with `_tightest` behind the name, into the
//                       tightest; each looks at every pair that lives together once
//   greedy_by_neighbours
//                       the same for a relation, where of the others only greedy_by_size has a meaning
//   search              exact; first for the bound or the capacity, then for heights between the bound and the best
//                       (descent.h). Plain lifespans: valley_search.h. Gaps, fixed buffers, relations:
//                       cover_search.h. Groups that are not one block: pair_order_search.h
//   ejection            a local search from the lowest so far (ejection.h); takes turns with `search`
// The bound is the largest load, sizes rounded up as far as alignments prove (load_bound.h), the same for buffers any
// two of which pairs name, or the highest end of a fixed buffer; of a group it counts the bytes that somebody holds.
// `witness_time` is the moment that shows it, also when it exceeds the capacity (infeasible), or `witness_buffers` are
// who. Where the exact search refutes a height, the bound rises above that.
// Deterministic. docs/algorithms/packing.md tells why it is built like this, with figures.
// Errors: invalid, for a buffer that is not as PackingBuffer says, for fixed offsets that are below 0, misaligned or
// collide, and for groups that contradict themselves or what is fixed; over_limit, for sizes and
// padding that add up to more than limits::kMaxTotalBytes. Messages name the buffers.
[[nodiscard]] Result<Packing> allocate(const PackingProblem& problem, const AllocateOptions& options = {});

}  // namespace lowtide
