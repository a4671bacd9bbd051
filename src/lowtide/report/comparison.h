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

// What one earlier planner would have needed.
struct ComparisonLine {
  std::string name;
  std::string system;
  std::string run_order;               // "sequence", "dependencies", "waves"
  std::optional<std::string> refusal;  // it has no answer, and why; the figures below mean nothing then
  Bytes bytes;                         // scratch too
  Bytes naive;
  std::optional<Bytes> best;  // by the same rule, in the same order
  bool is_best = false;       // proven: the rule allows no less
  std::int64_t shared_buffers = 0;
  std::int64_t blobs = 0;
  std::optional<std::int64_t> blobs_left;  // nothing: one arena
};

struct Comparison {
  Bytes arena;  // of Lowtide's plan
  Bytes bound;
  std::vector<ComparisonLine> lines;
};

// A table, Lowtide's plan first, and a sentence that says who needs less than Lowtide, if anybody does.
[[nodiscard]] StyledText comparison_summary(const ModelFacts& model, const Comparison& comparison);

}  // namespace lowtide
