// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/order_graph.h"
#include "lowtide/report/styled_text.h"

namespace lowtide {

// The summary of `order`: the peak of the order, a bound for all orders, and the peak of every strategy that was tried.
[[nodiscard]] StyledText order_summary(const std::string& path, const Graph& graph, const OrderedGraph& ordered);

}  // namespace lowtide
