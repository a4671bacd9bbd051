// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/adapt/model_hints.h"
#include "lowtide/base/id.h"
#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/pipeline/resolve_hints.h"
#include "lowtide/plan/hints.h"
#include "lowtide/report/styled_text.h"

namespace lowtide::cli_internal {

// The hints of --hints FILE; empty without the option. Stops if the file is not right, or if there is no --budget.
[[nodiscard]] std::vector<HintRequest> read_hints(const Arguments& arguments);

// Accepted hints, and what became of them.
struct HintResults {
  const std::vector<NodeHint>& hints;
  const std::vector<std::string>& names;
  IdVector<NodeId, std::int64_t> runs;                        // of each node of the graph
  bool is_kept = false;                                       // whether the budget is kept
  std::optional<IdVector<NodeId, std::int64_t>> leaves = {};  // how often each output leaves; nullopt without a link
};

// What became of the hints in a plan for a budget. The result refers to the hints.
[[nodiscard]] HintResults results_of(const ModelHints& hints, const Graph& graph, const PlannedGraph& planned);

// A line per hint: whether it is honoured, and how. Empty without hints.
[[nodiscard]] StyledText hints_text(const HintResults& results);
[[nodiscard]] Json json_of(const HintResults& results);

}  // namespace lowtide::cli_internal
