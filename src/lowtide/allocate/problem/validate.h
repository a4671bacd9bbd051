// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// Refuses what packing.h does not allow (invalid), and what could overflow later (over_limit). If it succeeds:
//   - Lifespans are not empty. Gaps are inside, sorted and disjoint. (Neither is checked if a relation replaces time.)
//   - Alignments are powers of two, and at most limits::kMaxAlignment.
//   - The sum of all sizes, each with the padding for its alignment, is at most limits::kMaxTotalBytes. With
//     colocations, so is the sum over groups with twice the padding. The end of every fixed buffer has the same limit.
//     So a stack of all buffers above the fixed ones ends below 2^63, and 64-bit arithmetic cannot overflow.
//   - Conflicts and colocations name two different buffers that exist. The colocations of a group do not contradict
//     each other, and there are few enough pieces and pairs of pieces (groups.h) to list them.
//   - Fixed offsets, and those that follow from them in a group, are >= 0 and aligned. No two fixed buffers that are in
//     conflict share a byte.
// O((n + gaps + pairs) log n).
[[nodiscard]] Result<void> validate_packing_problem(const PackingProblem& problem);

}  // namespace lowtide::allocate_internal
