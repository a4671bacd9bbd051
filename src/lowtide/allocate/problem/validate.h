// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// Refuses what PackingBuffer does not allow (invalid) and what could overflow later (over_limit).
// Ensures, for everything behind the door:
//   - lifespans are not empty; gaps lie inside, sorted and disjoint (not looked at where a relation replaces time);
//   - alignments are powers of two <= limits::kMaxAlignment;
//   - the sum over all buffers, and over all groups, of size + twice the padding for alignment, and every fixed end, is
//     <= limits::kMaxTotalBytes, so any stack of buffers on top of fixed ones ends below 2^63: plain 64-bit arithmetic
//     on addresses cannot wrap;
//   - pairs name two different buffers that exist; the groups of `together` hold together (groups.h), and their pieces
//   and
//     the pairs of pieces are not too many to be written down;
//   - fixed offsets, also those that follow from a group, are >= 0 and aligned, and no two fixed buffers that are in
//     conflict share a byte.
// O((n + gaps + pairs) log n).
[[nodiscard]] Result<void> validate_packing_problem(const PackingProblem& problem);

}  // namespace lowtide::allocate_internal
