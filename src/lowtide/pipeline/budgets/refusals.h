// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/budget_problem.h"
#include "lowtide/plan/hints.h"

// What the searches for a budget do not support.
namespace lowtide::pipeline_internal {

// Groups may repeat nodes in a way for which no sequence is known, or for which there is none.
[[nodiscard]] Error no_known_sequence();

// Refuses a hint about a node that a group repeats.
[[nodiscard]] Result<void> check_groups_of_hints(const BudgetProblem& problem, const std::vector<NodeHint>& hints);

// Refuses values that begin outside if copies of one output cannot stand for their runs: those with parts, in groups,
// or in edges of `before`. The first entries of the problem are the nodes of the graph.
[[nodiscard]] Result<void> check_fetched(const BudgetProblem& problem, const Graph& graph);

}  // namespace lowtide::pipeline_internal
