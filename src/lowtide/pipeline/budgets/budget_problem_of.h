// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/budget_problem.h"

namespace lowtide::pipeline_internal {

// The budget problem of a plain graph. Requires: each node has one output, and a cost as in BudgetNode.
[[nodiscard]] BudgetProblem budget_problem_of(const Graph& graph, const IdVector<NodeId, std::int64_t>& costs,
                                              Bytes budget);

}  // namespace lowtide::pipeline_internal
