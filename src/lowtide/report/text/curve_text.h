// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lowtide/pipeline/plan_curve.h"

namespace lowtide::report_internal {

// How much a time exceeds another one: "0 %", "4.30 %", "unknown" if the other one is 0.
[[nodiscard]] std::string added_time_text(std::int64_t picoseconds, std::int64_t base);

// Whether a plan keeps the budget of a point, and what is proven about it: "fits, and no plan is faster (proven)".
[[nodiscard]] std::string verdict_of_point(const BudgetPoint& point);

}  // namespace lowtide::report_internal
