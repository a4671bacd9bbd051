// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// Refuses a plan whose sizes a plan file cannot hold, so that read_plan_json accepts what write_plan_json writes:
//   - the capacity and the arena of each region, and each buffer, are at most limits::kMaxArenaBytes
//   - all arenas and buffers add up to limits::kMaxTotalBytes at most, and each claim of bytes is no larger
// The plans of bodies count too. Errors (over_limit): the message names the number and the limit.
// O(regions + buffers + steps); no recursion.
[[nodiscard]] Result<void> check_plan_limits(const Plan& plan);

}  // namespace lowtide
