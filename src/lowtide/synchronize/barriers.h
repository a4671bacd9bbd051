// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/plan/program.h"

namespace lowtide {

inline constexpr std::int64_t kMostBarrierWaits = std::int64_t{1} << 25;

// Adds a barrier between consecutive waves: every step waits for all steps of the previous wave that run on other
// streams. Waits that the steps of the program already had are replaced. `wave` lists the waves of the first steps.
// Waves are numbered from 0, in the order of the steps and without gaps. Each step that `wave` does not list is a copy,
// and is a wave of its own.
//
//   wave       0    1    2
//   stream 0 | a  | c  | e |     c waits for b, d for a, and e for d
//   stream 1 | b  | d  |
//
// O(steps x streams).
// Errors (over_limit): more than kMostBarrierWaits waits.
[[nodiscard]] Result<Program> with_barriers(Program program, const std::vector<std::uint32_t>& wave);

}  // namespace lowtide
