// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/pipeline/explain_peak.h"
#include "lowtide/report/styled_text.h"

namespace lowtide::report_internal {

// Why results at the peak are not written in place, the largest first. Only those that matter.
[[nodiscard]] std::vector<std::string> refusals_of(const PeakExplanation& level);

// What would lower the peak, and what the peak would then be.
[[nodiscard]] StyledText remedies_text(const PeakExplanation& level);

}  // namespace lowtide::report_internal
