// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/incumbent.h"

namespace lowtide::allocate_internal {

struct EjectionOptions {
  std::int64_t bound = 0;  // the search stops at this height
  std::uint64_t seed = 0;  // of the generator that breaks ties
};

// Lowers `best` step by step towards the bound. A step sets a target below the current height, and takes out the
// buffers that end above it. Each of them is assigned the offset at which the buffers in its way weigh the least, and
// these are taken out in turn. A buffer that pushes others out becomes heavier, so that hard buffers stay in place and
// the search does not repeat itself. When no buffer is left outside, every buffer moves down as far as it can, and the
// next target is set.
//
//   target ------+-----+--------       a ends above the target. Its best offset is that of b, because b is lighter than
//                |  a  |               c and d together. So b is taken out, a takes its bytes, and b looks for another
//      +-----+   |     | +----+        offset next.
//      |  b  |   +-----+ | c  |
//
// The idea is guided ejection search (Nagata and Braysy, "A powerful route minimization heuristic for the vehicle
// routing problem with time windows", 2009), applied to addresses. A move visits only the neighbours of one buffer,
// while a local search over orders packs a whole order per move. So ejection makes more moves with the same effort. A
// failure proves nothing.
//
// `graph` may be null. Then neighbours are found by time, and no memory is used per pair of buffers. Fixed buffers stay
// where they are. Deterministic. Stops at the bound, when the effort ends, or after several failed steps in a row.
// Returns true if `best` has become lower.
[[nodiscard]] bool lower_by_ejection(const CompressedProblem& problem, const ConflictGraph* graph,
                                     const EjectionOptions& options, Incumbent& best, Effort& effort);

}  // namespace lowtide::allocate_internal
