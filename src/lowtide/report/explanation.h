// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/analysis/copies_left.h"
#include "lowtide/analysis/plain_figures.h"
#include "lowtide/analysis/weights.h"
#include "lowtide/base/bytes.h"
#include "lowtide/pipeline/explain_peak.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/report/lowering.h"
#include "lowtide/report/quantized.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/report/summary.h"

namespace lowtide {

// Facts about the plan in addition to those that explain_peak finds.
struct ExplanationFacts {
  PlainFigures plain;
  std::optional<Weights> weights = std::nullopt;  // PlannedGraph::weights
  std::string order = "auto";                     // the requested scheduling strategy
  std::int64_t searched_sets = 0;                 // PlannedGraph::searched_sets
  bool is_search_complete = false;                // PlannedGraph::is_search_complete
  bool is_bound_verified = false;                 // by an independent check
  std::optional<QuantizedFacts> quantized = std::nullopt;
  std::optional<LoweringFacts> lowering = std::nullopt;
  std::optional<std::vector<CopyLeft>> copies = std::nullopt;  // of the whole plan; nullopt: no section on them
  std::string forbidden = {};  // "--no-in-place": options that rule out some of the plans that the bound holds for
};

// The facts that a planned graph has. `order` is the scheduling strategy that was requested, and `forbidden` as above.
[[nodiscard]] ExplanationFacts explanation_facts(const PlannedGraph& planned, std::string order, std::string forbidden);

// For readers who do not know the planner: where the peak is, which buffers are live there and why, the proof that no
// order needs less, or the fact that none is known, and what would lower the peak. One section per level.
// Requires: the levels come from explain_peak, at least one.
[[nodiscard]] StyledText explanation_summary(const ModelFacts& model, const std::vector<PeakExplanation>& levels,
                                             const ExplanationFacts& facts, const SummaryOptions& options = {});

// The paragraphs of one level on why no order needs less, without line breaks, for reports with a layout of their own.
[[nodiscard]] std::vector<std::string> proof_paragraphs(const PeakExplanation& level, const ExplanationFacts& facts,
                                                        const SummaryOptions& options = {});
// The same for results that the step of the peak could write over an input, although the plan does not.
[[nodiscard]] std::vector<std::string> in_place_paragraphs(const PeakExplanation& level);

}  // namespace lowtide
