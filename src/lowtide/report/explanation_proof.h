// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/pipeline/explain_peak.h"
#include "lowtide/report/explanation.h"
#include "lowtide/report/styled_text.h"

namespace lowtide::detail {

// "step 12, Conv conv1"
[[nodiscard]] std::string step_text(const PeakExplanation& told, StepId step);

// Why no order needs less, or what is known where that is not proven.
[[nodiscard]] StyledText proof_text(const PeakExplanation& told, const ExplanationFacts& facts,
                                    const SummaryOptions& options);

// What would lower the load, each with its figure; or that only the step itself can.
[[nodiscard]] StyledText remedies_text(const PeakExplanation& told);

}  // namespace lowtide::detail
