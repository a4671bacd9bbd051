// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/incumbent.h"

namespace lowtide::allocate_internal {

struct EjectionTurn {
  std::int64_t bound = 0;  // the turn ends there
  std::uint64_t seed = 0;  // of the generator that breaks ties
};

// Lowers `best` step by step towards the bound. A step sets a target below the present height and takes out the buffers
// that end above it. Each of them goes back where the buffers in its way weigh the least, and these are taken out in
// turn. A buffer that pushed others out grows heavier, so that hard buffers stay in place and the search does not go
// round in circles. When no buffer is left outside, all are dropped to the ground, and the next target is set.
//
//   target ------+-----+--------       a ends above: its best place is on b's bytes,
//                |  a  |               b is lighter than c + d: b leaves, a enters,
//      +-----+   |     | +----+        b looks for a place next
//      |  b  |   +-----+ | c  |
//
// The idea is guided ejection search (Nagata and Braysy, "A powerful route minimization heuristic for the vehicle
// routing problem with time windows", 2009), carried over to addresses. A move costs the neighbours of one buffer, not
// a whole order, and that is why it reaches further than climbing over orders. It proves nothing when it fails.
// `graph` may be null: neighbours are then found by time, and no memory is used per pair.
// Deterministic. Fixed buffers stay. Stops at the bound, when the effort
// ends, or after several failed steps in a row. Returns true if `best` became lower.
[[nodiscard]] bool lower_by_ejection(const CompressedProblem& problem, const ConflictGraph* graph,
                                     const EjectionTurn& turn, Incumbent& best, Effort& effort);

}  // namespace lowtide::allocate_internal
