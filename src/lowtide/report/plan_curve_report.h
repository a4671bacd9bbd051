// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/pipeline/plan_curve.h"
#include "lowtide/report/styled_text.h"

namespace lowtide {

// The summary of `plan --curve`: a row per budget, with RAM, time and bound of its plan. The knee is marked.
[[nodiscard]] StyledText plan_curve_summary(const std::string& path, const PlanCurve& curve);

// The same as CSV with a header: budget, outcome, ram, picoseconds, reruns, bound_picoseconds, knee. Cells of a plan
// that was not found are empty.
[[nodiscard]] std::string plan_curve_csv(const PlanCurve& curve);

// One self-contained HTML page, offline and without scripts: estimated time over RAM for all budgets, with the knee and
// what is proven, and a table with a verdict for each budget. The points of the drawing lead to the rows.
// Deterministic.
[[nodiscard]] std::string plan_curve_page(const std::string& path, const PlanCurve& curve);

}  // namespace lowtide
