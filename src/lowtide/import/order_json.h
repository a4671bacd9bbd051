// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/import/imported.h"

namespace lowtide::import_internal {

// The text behind import_order_graph (import/import.h): a JSON object, its members in any order, others ignored.
//
//   {"nodes": [{"name": "a", "bytes": 64}, {"name": "b", "bytes": 32}],     one output a node; names are optional
//    "edges": [[0, 1]],                  b reads what a makes; counted from 0
//    "outputs": [1],                     optional: kept to the end
//    "order": [0, 1]}                    optional: the order as given; else that of "nodes"
//
// O(bytes + (nodes + edges) log nodes).
[[nodiscard]] Result<ImportedOrderGraph> parse_order_graph(std::string_view text);

}  // namespace lowtide::import_internal
