// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/allocate/problem/compressed.h"

namespace lowtide::allocate_internal {

// Orders in which the greedy strategies assign the movable buffers. The id breaks every tie that is left. Which order
// wins differs from problem to problem, and one order costs little.
//
//   greedy_by_size      Largest first, so that buffers that are hard to fit are assigned while there is space
//                       (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020). Poor
//                       if a long thin buffer comes late and finds no range that is free for its whole life.
//   greedy_by_breadth   By the load of the busiest moment in the life of the buffer, so that the busy moments are
//                       packed while nothing else is in the arena (same paper, with moments in place of operators).
//   greedy_by_breadth_last_end
//                       By breadth, and within a moment by end, the last first. So the buffers that a backward pass
//                       frees last lie lowest, as in a stack. With the tightest range it reaches the bound on graphs
//                       whose lifespans are nested around one busy moment.
//   greedy_by_breadth_first_end
//                       The same, but the buffers that end first lie lowest.
//   greedy_by_breadth_first_begin
//                       The same, but the buffers that begin first lie lowest, as in a stack if time is reversed.
//   greedy_outwards     By the distance from the busiest moment, and the largest first at each distance. So the busiest
//                       moment is packed without waste, and sweeps in both directions of time fill what its buffers
//                       leave free. Poor if another moment is as busy and has other buffers.
//   greedy_by_lifespan  Longest first, in moments. Long buffers lie at the bottom, and few of them are live together.
//                       Poor if many short large buffers follow.
//   greedy_by_area      Largest size x lifespan first: between size and lifespan.
//   greedy_by_neighbours
//                       By the bytes of the buffers that the relation puts in conflict: breadth without time. A
//                       relation has no moments, so the orders above depend at most on sizes.

[[nodiscard]] std::vector<PackingId> greedy_by_size(const CompressedProblem& problem);
[[nodiscard]] std::vector<PackingId> greedy_by_breadth(const CompressedProblem& problem);
[[nodiscard]] std::vector<PackingId> greedy_by_breadth_last_end(const CompressedProblem& problem);
[[nodiscard]] std::vector<PackingId> greedy_by_breadth_first_end(const CompressedProblem& problem);
[[nodiscard]] std::vector<PackingId> greedy_by_breadth_first_begin(const CompressedProblem& problem);
[[nodiscard]] std::vector<PackingId> greedy_outwards(const CompressedProblem& problem);
[[nodiscard]] std::vector<PackingId> greedy_by_lifespan(const CompressedProblem& problem);
[[nodiscard]] std::vector<PackingId> greedy_by_area(const CompressedProblem& problem);
[[nodiscard]] std::vector<PackingId> greedy_by_neighbours(const CompressedProblem& problem);

}  // namespace lowtide::allocate_internal
