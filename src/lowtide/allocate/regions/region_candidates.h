// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/regions/region_bound.h"
#include "lowtide/allocate/regions/region_choice.h"
#include "lowtide/allocate/regions/region_model.h"

namespace lowtide::allocate_internal {

// A choice of regions for which offsets are to be found.
struct RegionCandidate {
  RegionChoice choice;
  std::string strategy;
};

// Complete choices before others, then the cheapest first. A choice that is listed already is not added.
void add_candidate(std::vector<RegionCandidate>& candidates, RegionChoice choice, std::string_view strategy);

// Every item in the cheapest region that may hold it, if loads fit; otherwise also what greedy rules choose, improved
// by moves. Both look at loads only. Raises `bounds` (one per level) on the way, because one rule needs their prices.
[[nodiscard]] std::vector<RegionCandidate> collect_candidates(const RegionModel& model,
                                                              std::vector<RegionBound>& bounds, Effort& effort);

}  // namespace lowtide::allocate_internal
