// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/base/random.h"
#include "lowtide/plan/plan_json.h"

namespace lowtide::testing {

// A random plan with the plans of its bodies. Its ids are in range, and its names and numbers are whatever a plan file
// can hold, so it need not be correct.
[[nodiscard]] PlanFile random_plan_file(Random& random);

// The first difference between two plan files, or "".
[[nodiscard]] std::string difference(const PlanFile& a, const PlanFile& b);

}  // namespace lowtide::testing
