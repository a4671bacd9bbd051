// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/order_graph.h"
#include "lowtide/plan/budget_problem.h"
#include "lowtide/plan/hints.h"
#include "lowtide/target/target.h"

namespace lowtide {

struct BudgetOptions {
  OrderOptions order;  // of the search for an order without reruns
  Bytes budget;        // of the live outputs, without anything that is always live
  // The same as RematerializeOptions::effort. Absent: what the number of nodes suggests, up to about a minute.
  std::optional<std::int64_t> effort = std::nullopt;
  const std::atomic<bool>* stop = nullptr;  // when set, ends the search with the best answer so far; nullptr: never
  // The same as RematerializeOptions::on_improvement.
  std::function<void(const BudgetAnswer&)> on_improvement = {};
  std::vector<NodeHint> hints = {};  // which nodes run again, or do not (pipeline/resolve_hints.h)
};

// A sequence of runs within a budget, and the order that it begins from.
struct KeptBudget {
  OrderedGraph ordered;  // each node runs once
  BudgetProblem problem;
  // With hints, for all sequences that honour them: the bound of the cost, and whether none keeps the budget. If a node
  // must run again, the proofs are about a problem in which its runs are two nodes, and are not in the answer.
  BudgetAnswer answer;
};

// Looks for the order with the lowest peak. If that is above the budget, looks for nodes to run again. `verify` has
// checked the sequence, the proof of the bound, and the proof that nothing fits. Errors: those of order_graph;
// over_limit if the cost with the reruns of hints exceeds kMaxTotalCost. Requires: each node has one output, and a cost
// as in BudgetNode.
[[nodiscard]] Result<KeptBudget> keep_budget(const Graph& graph, const IdVector<NodeId, std::int64_t>& costs,
                                             const Target& target, const BudgetOptions& options);

// The same for nodes with parts, updates and all else that a budget problem can state. The first entries of `steps` are
// the nodes of the graph, in their order, and its budget is ignored. The answer has only these entries among its runs.
// Errors: also unsupported, if a node of such a problem must run again by a hint. Requires: check_budget_problem()
// accepts `steps`, and the graph has its sizes, and an edge for all that must run before.
[[nodiscard]] Result<KeptBudget> keep_budget(const Graph& graph, const BudgetProblem& steps, const Target& target,
                                             const BudgetOptions& options);

struct CurveOptions {
  OrderOptions order;                       // of the search for an order without reruns
  std::int64_t points = 20;                 // budgets, >= 2
  std::int64_t effort = 80'000'000'000;     // for all points together, divided equally
  const std::atomic<bool>* stop = nullptr;  // when set, the points that are left are searched without effort
};

// What each budget costs, from the largest to the smallest. Less memory never costs less, and no bound falls.
struct BudgetCurve {
  OrderedGraph ordered;               // each node runs once
  BudgetProblem problem;              // its budget is that of the last point
  std::vector<Bytes> budgets;         // descends
  std::vector<BudgetAnswer> answers;  // by budget
  Bytes floor;                        // no sequence keeps less, as verify has confirmed
};

// Solves budgets in equal steps, from the peak of the best order, where nothing runs again, to the lower bound of all
// budgets. A cheaper sequence of a smaller budget replaces that of a larger one, and a bound of a larger budget is also
// one of all smaller budgets. So each point is at least as good as keep_budget with the effort of one point. `steps`,
// errors and requirements: those of keep_budget.
[[nodiscard]] Result<BudgetCurve> keep_budgets(const Graph& graph, const BudgetProblem& steps, const Target& target,
                                               const CurveOptions& options);

}  // namespace lowtide
