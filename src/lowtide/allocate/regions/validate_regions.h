// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/plan/region_packing.h"

namespace lowtide::allocate_internal {

// Refuses what region_packing.h does not allow, and what could overflow later. If it succeeds, besides what
// validate_packing_problem ensures:
//   - There are 1 to limits::kMaxRegions regions. Their capacities are >= 0, and their alignments are powers of two and
//     at most limits::kMaxAlignment. The packing problem has no capacity of its own.
//   - There is one use per buffer, or none at all. Weights are >= 0. Forbidden regions exist, and each buffer has a
//     region that is not forbidden.
//   - The sum of weight x size is at most limits::kMaxTotalBytes. So is the sum of the sizes with the padding of any
//     region.
[[nodiscard]] Result<void> validate_region_problem(const RegionProblem& problem);

}  // namespace lowtide::allocate_internal
