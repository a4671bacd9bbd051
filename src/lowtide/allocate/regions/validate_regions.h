// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/plan/region_packing.h"

namespace lowtide::allocate_internal {

// Refuses what region_packing.h does not allow, and what could overflow later. Ensures, besides what
// validate_packing_problem does:
//   - 1 to limits::kMaxRegions regions; capacities >= 0; alignments are powers of two <= limits::kMaxAlignment; the
//     packing has no capacity of its own;
//   - one use for each buffer or none at all; weights >= 0; forbidden regions exist, and are not all there are;
//   - the sum of weight x size is <= limits::kMaxTotalBytes, and so is the sum of sizes with any region's padding.
[[nodiscard]] Result<void> validate_region_problem(const RegionProblem& problem);

}  // namespace lowtide::allocate_internal
