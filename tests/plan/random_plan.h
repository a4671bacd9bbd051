// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/base/random.h"
#include "lowtide/plan/plan_json.h"

namespace lowtide::testing {

// A plan whose ids are in range and whose names and numbers are anything, with the plans of its bodies; what a plan
// file can hold, right or not.
[[nodiscard]] PlanFile random_plan_file(Random& random);

// Where two plan files differ, or "".
[[nodiscard]] std::string difference(const PlanFile& a, const PlanFile& b);

}  // namespace lowtide::testing
