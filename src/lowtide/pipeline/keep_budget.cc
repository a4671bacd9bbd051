// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/keep_budget.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/rematerialize/rematerialize.h"
#include "lowtide/verify/check_budget.h"

namespace lowtide {
namespace pipeline_internal {
namespace {

BudgetProblem problem_of(const Graph& graph, const IdVector<NodeId, std::int64_t>& costs, Bytes budget) {
  BudgetProblem problem{.nodes = {}, .budget = budget};
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Node& node = graph.node(id);
    LOWTIDE_CHECK(node.outputs.size() == 1 && node.outputs[0], "a node of a plain graph has one output");
    const Tensor& output = graph.tensor(*node.outputs[0]);
    std::vector<NodeId> reads;
    for (const std::optional<TensorId>& input : node.inputs) {
      if (input && graph.tensor(*input).producer) reads.push_back(*graph.tensor(*input).producer);
    }
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    problem.nodes.push_back({.reads = CompactVector<NodeId>(reads.data(), reads.data() + reads.size()),
                             .size = output.size,
                             .cost = costs[id],
                             .is_output = output.role == Role::output});
  }
  return problem;
}

void verify_answer(const BudgetProblem& problem, const BudgetAnswer& answer) {
  const std::vector<Violation> violations = check_budget_runs(problem, answer);
  LOWTIDE_CHECK(violations.empty(), "the verifier accepts every sequence of runs");
  if (answer.bound_kind == CostBoundKind::milestones) {
    LOWTIDE_CHECK(answer.proof.has_value(), "a bound from milestones has a proof");
    const CostBoundCheck check = check_cost_bound(problem, *answer.proof);
    LOWTIDE_CHECK(!check.problem && check.proven >= answer.cost_bound, "the verifier confirms the bound of the cost");
  }
  if (answer.outcome == BudgetOutcome::infeasible) {
    LOWTIDE_CHECK(answer.obstruction && check_infeasible(problem, *answer.obstruction),
                  "the verifier confirms that no sequence keeps the budget");
  }
}

}  // namespace
}  // namespace pipeline_internal

Result<KeptBudget> keep_budget(const Graph& graph, const IdVector<NodeId, std::int64_t>& costs, const Target& target,
                               const BudgetOptions& options) {
  Result<OrderedGraph> ordered = order_graph(graph, target, options.order);
  if (!ordered) return ordered.error();
  BudgetProblem problem = pipeline_internal::problem_of(graph, costs, options.budget);
  BudgetAnswer answer = rematerialize(problem, ordered->order, {.effort = options.effort});
  pipeline_internal::verify_answer(problem, answer);
  return KeptBudget{.ordered = *std::move(ordered), .problem = std::move(problem), .answer = std::move(answer)};
}

}  // namespace lowtide
