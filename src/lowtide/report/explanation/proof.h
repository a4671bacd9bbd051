// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/pipeline/explain_peak.h"
#include "lowtide/report/explanation.h"
#include "lowtide/report/shown_step.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/report/summary.h"

namespace lowtide::report_internal {

// What runs in a step of the level.
[[nodiscard]] inline ShownStep shown_step(const PeakExplanation& level, StepId step) {
  return lowtide::shown_step(*level.peak.plan, *level.peak.labels, step);
}

[[nodiscard]] inline std::string tensor_text(const PeakExplanation& level, TensorId tensor) {
  return shown_name(level.peak.labels->tensors[tensor].name);
}

// "step 12, Conv conv1"
[[nodiscard]] std::string step_text(const PeakExplanation& level, StepId step);

// A paragraph, with a styled word before it, such as "Proven: ".
struct Remark {
  std::string text;
  StyledText lead = {};
};

// Why no order needs less, or what is known if that is not proven.
[[nodiscard]] std::vector<Remark> proof_of(const PeakExplanation& level, const ExplanationFacts& facts,
                                           const SummaryOptions& options);
// The same with a heading, for a terminal.
[[nodiscard]] StyledText proof_text(const PeakExplanation& level, const ExplanationFacts& facts,
                                    const SummaryOptions& options);

}  // namespace lowtide::report_internal
