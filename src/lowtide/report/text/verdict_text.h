// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/report/page.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/report/summary.h"

namespace lowtide::report_internal {

// One or more sentences: whether the plan fits, what is proven, and what runs again so that it does.
[[nodiscard]] StyledText verdict_text(const NamedPlan& shown, const PlanVerdict& verdict);

// The same as paragraphs without line ends. What runs again is not among them, nor whether the plan fits and by how
// much, unless the weights alone do not.
[[nodiscard]] std::vector<std::string> verdict_paragraphs(const NamedPlan& shown, const PlanVerdict& verdict);

}  // namespace lowtide::report_internal
