// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/report/page.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/report/summary.h"

namespace lowtide::report_internal {

// One or more sentences: what is proven, whether the plan fits, and what runs again so that it does.
[[nodiscard]] StyledText verdict_text(const NamedPlan& shown, const PlanVerdict& verdict);

}  // namespace lowtide::report_internal
