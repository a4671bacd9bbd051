// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

struct AllocateOptions {
  // Work units (pairs of buffers looked at) after which no further strategy is started; the first always runs.
  // Counted, not timed, so that the answer is the same on every machine. 1 unit is about 5 ns.
  std::int64_t effort = 200'000'000;
};

// Gives every buffer an offset so that two that live together share no byte, trying strategies in turn and keeping
// the lowest: stops at once when a height meets the bound. Bound: the largest load, sizes rounded to alignment.
// Strategies: best_fit (sweep in time), greedy_by_size, greedy_by_breadth, greedy_by_lifespan.
// Deterministic. Errors (invalid): a buffer or gap that is not as PackingBuffer says, fixed offsets that collide.
[[nodiscard]] Result<Packing> allocate(const PackingProblem& problem, const AllocateOptions& options = {});

}  // namespace lowtide
