// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/plan/program.h"

namespace lowtide {

inline constexpr std::int64_t kMostBarrierWaits = std::int64_t{1} << 25;

// Adds a barrier between each two neighbouring waves: every step waits for all steps of the previous wave that run on
// other streams. Waits of steps that the program already had are replaced. `wave` gives the wave of each of the first
// steps; waves are counted from 0 and ascend by at most 1. Each later step is a copy and is a wave of its own.
//
//   wave       0    1    2
//   stream 0 | a  | c  | e |     c waits for b, d for a, and e for d
//   stream 1 | b  | d  |
//
// O(steps x streams).
// Errors (over_limit): more than kMostBarrierWaits waits.
[[nodiscard]] Result<Program> with_barriers(Program program, const std::vector<std::uint32_t>& wave);

}  // namespace lowtide
