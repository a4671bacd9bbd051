// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/allocate/problem/compressed.h"

namespace lowtide::allocate_internal {

// Orders in which the greedy strategies place the movable buffers; every tie ends in the id. Which one wins differs
// from problem to problem, and one order costs little.
//
//   greedy_by_size      largest first: what is hard to fit goes while there is room (Pisarchyk and Lee, "Efficient
//                       Memory Management for Deep Neural Net Inference", 2020). Poor where a long thin buffer comes
//                       late and finds no stretch that stays free for so long.
//   greedy_by_breadth   by the load of the busiest moment that the buffer sees: the crowded moments are packed while
//                       they are still alone in the arena (same paper, moments in place of operators).
//   greedy_by_breadth_last_end
//                       as by breadth, and within a moment those that live on longest first: what backward steps free
//                       last lies lowest, so training graphs become a stack. With the tightest gap it reaches the bound
//                       on graphs where nested lifespans meet in one busy moment.
//   greedy_by_lifespan  longest first, in moments: the long ones lie at the bottom, side by side in time with few.
//                       Poor where many short large ones follow.
//   greedy_by_area      largest size x lifespan first, between size and lifespan.
//   greedy_by_neighbours
//                       by the bytes of those that pairs name: breadth where a relation replaces time. The orders above
//                       but the first know nothing of it and end in that one.

[[nodiscard]] std::vector<PackingId> greedy_by_size(const CompressedProblem& problem);
[[nodiscard]] std::vector<PackingId> greedy_by_breadth(const CompressedProblem& problem);
[[nodiscard]] std::vector<PackingId> greedy_by_breadth_last_end(const CompressedProblem& problem);
[[nodiscard]] std::vector<PackingId> greedy_by_lifespan(const CompressedProblem& problem);
[[nodiscard]] std::vector<PackingId> greedy_by_area(const CompressedProblem& problem);
[[nodiscard]] std::vector<PackingId> greedy_by_neighbours(const CompressedProblem& problem);

}  // namespace lowtide::allocate_internal
