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

// Inserts a candidate in the order of the list: first by the number of unassigned groups, then by cost. Does nothing if
// the choice is listed already.
void add_candidate(std::vector<RegionCandidate>& candidates, RegionChoice choice, std::string_view strategy);

// Each group in the cheapest region that allows it. If loads do not fit there, also the choices of the greedy rules,
// improved by moves. All of them look only at loads. Raises the bounds on the way, because one rule needs their prices.
[[nodiscard]] std::vector<RegionCandidate> collect_candidates(const RegionModel& model,
                                                              IdVector<LevelId, RegionBound>& bounds, Effort& effort);

}  // namespace lowtide::allocate_internal
