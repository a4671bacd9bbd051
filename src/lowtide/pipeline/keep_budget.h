// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/order_graph.h"
#include "lowtide/plan/budget_problem.h"
#include "lowtide/target/target.h"

namespace lowtide {

struct BudgetOptions {
  OrderOptions order;                    // of the search for an order without reruns
  Bytes budget;                          // of the live outputs, without anything that is always live
  std::int64_t effort = 20'000'000'000;  // as RematerializeOptions::effort: up to about half a minute
};

// A sequence of runs within a budget, and the order that it begins from.
struct KeptBudget {
  OrderedGraph ordered;  // each node runs once
  BudgetProblem problem;
  BudgetAnswer answer;
};

// Looks for the order with the lowest peak. If that is above the budget, looks for nodes to run again. `verify` has
// checked the sequence, the proof of the bound, and the proof that nothing fits. Errors: those of order_graph.
// Requires: each node has one output, and a cost as in BudgetNode.
[[nodiscard]] Result<KeptBudget> keep_budget(const Graph& graph, const IdVector<NodeId, std::int64_t>& costs,
                                             const Target& target, const BudgetOptions& options);

}  // namespace lowtide
