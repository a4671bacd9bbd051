// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/analysis/plain_figures.h"
#include "lowtide/base/bytes.h"
#include "lowtide/pipeline/explain_peak.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/report/summary.h"

namespace lowtide {

// What is known of the plan besides what explain_peak finds.
struct ExplanationFacts {
  PlainFigures plain;
  std::string order = "auto";      // what was asked for
  std::int64_t searched_sets = 0;  // PlannedGraph::searched_sets
  bool is_bound_verified = false;  // by code that shares none with what found it
  std::string forbidden = {};      // "--no-in-place": options that rule out plans which the bound is for, too
};

// For somebody who has never seen the planner: where the largest load is, what lives there and for whom, why no order
// needs less (or that nobody knows), and what would lower it. A section a level.
// Require: levels of explain_peak, at least one.
[[nodiscard]] StyledText explanation_summary(const ModelFacts& model, const std::vector<PeakExplanation>& levels,
                                             const ExplanationFacts& facts, const SummaryOptions& options = {});

// What runs in a step: a node, or a copy.
[[nodiscard]] ShownNode shown_node(const PeakExplanation& told, StepId step);
[[nodiscard]] ShownNode shown_node(const Graph& graph, NodeId id);

}  // namespace lowtide
