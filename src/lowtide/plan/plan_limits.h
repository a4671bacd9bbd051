// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// Refuses a plan whose sizes exceed what a plan file can hold, so that read_plan_json accepts what write_plan_json
// writes:
//   - The capacity and the arena of each region, and each buffer, have at most limits::kMaxArenaBytes.
//   - The sum of all arenas and buffers is at most limits::kMaxTotalBytes, and so is each claim.
// This includes the plans of bodies. Errors (over_limit): the message names the number and the limit.
// O(regions + buffers + steps); no recursion.
[[nodiscard]] Result<void> check_plan_limits(const Plan& plan);

}  // namespace lowtide
