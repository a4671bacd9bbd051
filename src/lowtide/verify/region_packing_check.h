// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lowtide/plan/region_packing.h"

namespace lowtide {

// Everything wrong with a packing over regions: a region that does not exist or is forbidden, a fixed buffer outside
// its home, a group in two regions; within each region what check_packing finds, with the region's capacity and
// alignment; heights and cost that are not those of the placements; a bound above the cost, a proof without it. Of an
// infeasible one the witness: buffers that fit elsewhere or do not conflict, sums that do not exceed. Of one that is
// not found or infeasible, ends above a capacity are no fault. At most `most` lines. Empty: right. Shares no code with
// `allocate`.
[[nodiscard]] std::vector<std::string> check_region_packing(const RegionProblem& problem, const RegionPacking& packing,
                                                            std::size_t most = 100);

}  // namespace lowtide
