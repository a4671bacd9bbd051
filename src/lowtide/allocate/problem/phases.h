// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>

namespace lowtide::allocate_internal {

// Solvers work in phases, and each phase may spend twice as much as the one before. So an easy problem costs little,
// and a strategy that makes no progress delays the others by at most a constant factor. What a phase does depends on
// its own limit and on what earlier phases found. It never depends on the total effort that is left. Therefore more
// effort continues where less effort would have stopped, and never gives a worse answer.
struct PhaseLimits {
  std::int64_t first = 0;  // effort of the first phase; > 0
  int most_phases = std::numeric_limits<int>::max();
};

// Calls run(limit) for each phase, until it returns false or the last phase is over. Stops before a limit would exceed
// 2^60, which no effort reaches.
template <typename Run>
void run_phases(const PhaseLimits& limits, Run&& run) {
  constexpr std::int64_t kHighestLimit = std::int64_t{1} << 60;
  std::int64_t limit = limits.first;
  for (int phase = 0; phase < limits.most_phases && limit < kHighestLimit; ++phase, limit *= 2) {
    if (!run(limit)) return;
  }
}

}  // namespace lowtide::allocate_internal
