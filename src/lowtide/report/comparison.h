// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/report/summary.h"

namespace lowtide {

// The result of one earlier planner.
struct ComparisonLine {
  std::string name;
  std::string system;
  std::string run_order;               // "sequence", "waves", "dataflow"
  std::optional<std::string> refusal;  // why there is no result; the figures below are then meaningless
  Bytes bytes;                         // including scratch
  Bytes naive;
  std::optional<Bytes> best;  // the fewest bytes that a search finds with the same rule and order
  bool is_best = false;       // proven: no result of the rule is smaller
  std::int64_t shared_buffers = 0;
  std::int64_t blobs = 0;
  std::optional<std::int64_t> blobs_left;  // nullopt: one arena
};

struct Comparison {
  Bytes arena;  // of Lowtide's plan
  Bytes bound;
  std::vector<ComparisonLine> lines;
};

// A table with Lowtide's plan first, and a sentence that names the planners that need less, if any.
[[nodiscard]] StyledText comparison_summary(const ModelFacts& model, const Comparison& comparison);

}  // namespace lowtide
