// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/import/imported.h"

namespace lowtide {

// Parses the text of an ordering problem, as import_order_graph does for a file. It is a JSON object with members in
// any order. Other members are refused. docs/order-format.md lists all, such as those of parts, views and updates.
//
//   {"nodes": [{"name": "a", "bytes": 64}, {"name": "b", "bytes": 32}],     names are optional
//    "edges": [[0, 1]],                  node b reads the output of node a; nodes are counted from 0
//    "outputs": [1],                     optional: nodes whose outputs live until the end
//    "order": [0, 1],                    optional: the given order; without it, the order of "nodes"
//    "name": "net"}                      optional: the name of the graph
//
// With costs, each node must have a "cost", and "fixed_bytes" is optional. With units, so is "units": {"cost": "1 us"}.
// Errors: malformed; invalid; over_limit. O(bytes + (nodes + edges) log nodes).
[[nodiscard]] Result<ImportedOrderGraph> parse_order_graph(std::string_view text, const OrderFileOptions& options = {});

}  // namespace lowtide
