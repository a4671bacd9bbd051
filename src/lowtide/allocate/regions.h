// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "lowtide/base/result.h"
#include "lowtide/plan/region_packing.h"

namespace lowtide {

struct RegionOptions {
  // Work units as in AllocateOptions, for the choice of regions and the packings that it needs. After the choice, each
  // region gets the same effort once more, to lower its height. Work is counted and not timed, so the answer is the
  // same on every machine. More effort never gives a costlier answer.
  std::int64_t effort = 200'000'000;

  // Threads and `stop` mean the same as in AllocateOptions. Improvements are not reported. A caller with a deadline
  // sets `stop`.
  int threads = 1;
  const std::atomic<bool>* stop = nullptr;
};

// Gives every buffer a region and an offset, at the lowest cost (region_packing.h) that the effort finds. Among
// packings of equal cost, it prefers lower heights. Strategies run in phases with doubling effort (the table is in
// regions/allocate_regions.cc):
//   all_preferred   Each buffer goes to the cheapest region that may hold it. If offsets exist, this is optimal.
//   greedy_by_...   Each region keeps the buffers that are worth most there. Moves improve this, based on loads alone.
//                   Then offsets are found, and buffers that end above a capacity go to the next region.
//   sweep           Finds the cheapest of all choices whose loads fit, and then its offsets.
//   moves           Single moves and exchanges, each with new offsets for the regions that it changes.
//   search          Exact, by branch and bound.
// The bound comes from prices for bytes in full cliques, from the sweep, or from the search. The first answer takes
// nearly linear time. Deterministic, with any number of threads.
//
// Returns: RegionPacking explains each field. Capacities that are too small are not an error: the outcome is
// `infeasible` if that is proven, otherwise `not_found`.
//
// Errors: those of `allocate`; invalid, for regions and uses that region_packing.h does not allow; over_limit, for more
// than limits::kMaxRegions regions, or if the weighted bytes exceed limits::kMaxTotalBytes.
[[nodiscard]] Result<RegionPacking> allocate_regions(const RegionProblem& problem, const RegionOptions& options = {});

}  // namespace lowtide
