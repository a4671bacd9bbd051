// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/pipeline/recomputation.h"
#include "lowtide/plan/labels.h"
#include "lowtide/report/page.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/report/summary.h"

namespace lowtide::report_internal {

// What runs again so that a plan fits: the nodes, what they save and cost, and the bound of the time. Empty for a plan
// without recomputation.
[[nodiscard]] StyledText recomputation_text(const NamedPlan& shown, const PlanVerdict& verdict);

// What such a plan costs: its time, how much more that is, and what is proven. Requires: the outcome is `found`.
[[nodiscard]] std::string recomputation_time(const Recomputation& found);

// Why a tensor stays in the arena: "its node would take 12 us again, and needs x, which is not there". The labels are
// those of the plan.
[[nodiscard]] std::string why_kept(const Labels& labels, const KeptTensor& kept);

// Whether it is proven that no plan with recomputation fits.
[[nodiscard]] bool is_recomputation_infeasible(const PlanVerdict& verdict);

// For a plan that does not fit: whether recomputation could help. Empty if that was not searched.
[[nodiscard]] StyledText no_recomputation_text(const NamedPlan& shown, const PlanVerdict& verdict);

}  // namespace lowtide::report_internal
