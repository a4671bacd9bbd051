// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/placements.h"

namespace lowtide::allocate_internal {

// Best fit over time: sweeps over the moments as an allocator at run time would, but knows all sizes. It releases the
// buffers that end, and gives each buffer that begins the tightest free range. Of buffers that begin at the same
// moment, the largest goes first.
//
// Fixed buffers and buffers with gaps are reservations. Their bytes are reserved at the start of each active span. A
// buffer that is assigned during a gap must not overlap a reservation that is active during its own life. These
// reservations are looked up by time, for one unit of effort each. If there are any, a second sweep ignores the gaps
// and stays above the highest fixed end. The lower result is returned, or the second one if reservations use up the
// effort. So there is always an answer, in O((n + spans) log n).
//
// Optimal on chains and stacks of lifespans. Poor if long buffers begin one by one among short ones, because each of
// them keeps the offset that was free when it began.
[[nodiscard]] Placements best_fit(const CompressedProblem& problem, Effort& effort);

}  // namespace lowtide::allocate_internal
