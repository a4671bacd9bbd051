// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "lowtide/analysis/node_figures.h"
#include "lowtide/report/styled_text.h"

namespace lowtide {

struct NodeTableOptions {
  std::optional<std::size_t> top = std::nullopt;  // only the nodes with the most multiply-accumulates; nullopt: all
  bool wide = false;                              // names are whole, however long they are
};

// One row per node in the order of the graph, then the totals: bytes read and written, scratch, weights and
// multiply-accumulates. Nodes of a body are indented. O(n log n) for n nodes.
[[nodiscard]] StyledText node_table(const GraphFigures& figures, const NodeTableOptions& options = {});

// The same rows as CSV with a header line, without the totals. Column `inside` has the path of a body, from the step of
// the node that runs it: "12.then_branch/3.body". A figure that is not known is an empty cell. Texts with a comma or a
// quote are in double quotes; bytes that are not UTF-8 and control characters become escapes.
[[nodiscard]] std::string node_table_csv(const GraphFigures& figures);

}  // namespace lowtide
