// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/allocate/greedy/placer.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/effort.h"

namespace lowtide::allocate_internal {

// Sweeps over time as an allocator at run time would, but knowing all sizes: what ends is released, what begins goes
// to the tightest free stretch, the largest first among those that begin together.
//
// A placed buffer with gaps is a reservation for those that come later, like a fixed one: its parts are taken when they
// begin, and who is placed while it pauses keeps away from it if they meet again. Reservations that meet a span are
// looked up by time, one unit of effort each. Where there are any, the sweep is also done without them: gaps are
// ignored, and everything lies above the highest fixed end; the lower of the two counts, or this one if reservations
// use up the effort. So it always answers, in O((n + parts) log n).
//
// Optimal on chains and stacks of lifespans; poor where long buffers begin one by one among short ones, since each
// stays where there was room when it began.
[[nodiscard]] Placements best_fit(const CompressedProblem& problem, Effort& effort);

}  // namespace lowtide::allocate_internal
