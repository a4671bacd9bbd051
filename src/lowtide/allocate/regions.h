// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "lowtide/base/result.h"
#include "lowtide/plan/region_packing.h"

namespace lowtide {

struct RegionOptions {
  // Work units as in AllocateOptions, for the choice of regions with all packings that it asks for; and as much again
  // for each region when all is chosen, to lower its height. Counted, so that the answer is the same on every machine.
  // More effort never gives a costlier answer.
  std::int64_t effort = 200'000'000;

  // As in AllocateOptions. Improvements are not reported: a caller that needs an answer at a certain time stops, and
  // gets the best so far.
  int threads = 1;
  const std::atomic<bool>* stop = nullptr;
};

// Gives every buffer a region and an offset, such that the cost (region_packing.h) is the least, and heights are low
// where that costs nothing. Strategies run in phases with doubling effort (regions/allocate_regions.cc has their
// table):
//   all_preferred   every buffer in the cheapest region that may hold it: if that has offsets, nothing is better
//   greedy_by_...   each region keeps what is worth most there, improved by moves that look at loads. Then offsets:
//                   what ends above a capacity goes to the next region
//   sweep           the cheapest choice whose loads fit, exactly, and then its offsets
//   moves           single moves and exchanges, each with new offsets for the regions concerned
//   search          exact, by branch and bound
// The bound is that of the best prices for bytes in full cliques, of the sweep, or of the search. Near-linear until
// there is a first answer.
// Errors: those of `allocate`; invalid, for regions and uses that are not as region_packing.h says; over_limit, for
// more than limits::kMaxRegions regions, or weighted bytes above limits::kMaxTotalBytes.
[[nodiscard]] Result<RegionPacking> allocate_regions(const RegionProblem& problem, const RegionOptions& options = {});

}  // namespace lowtide
