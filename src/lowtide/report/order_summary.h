// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/order_graph.h"
#include "lowtide/report/styled_text.h"

namespace lowtide {

// What a person reads after `order`: the load of the order, a bound of all orders, and what every strategy reached.
[[nodiscard]] StyledText order_summary(const std::string& path, const Graph& graph, const OrderedGraph& ordered);

}  // namespace lowtide
