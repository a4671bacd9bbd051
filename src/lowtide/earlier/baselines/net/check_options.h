// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/graph/graph.h"

namespace lowtide::baselines_internal {

// Errors: invalid, for numbers below 1 and an alignment that is not a power of two.
[[nodiscard]] Result<void> check_numbers(const BaselineOptions& options);

// Errors: invalid, unless the order has each node of the graph once, behind all that it depends on.
[[nodiscard]] Result<void> check_order(const Graph& graph, const std::vector<NodeId>& order);

}  // namespace lowtide::baselines_internal
