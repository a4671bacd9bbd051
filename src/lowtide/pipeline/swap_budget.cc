// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/swap_budget.h"

#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/pipeline/budgets/budget_problem_of.h"
#include "lowtide/pipeline/budgets/refusals.h"
#include "lowtide/pipeline/budgets/swap_search.h"
#include "lowtide/pipeline/order_for_budget.h"

namespace lowtide {

Result<SwappedBudget> swap_budget(const Graph& graph, const IdVector<NodeId, std::int64_t>& costs, const Target& target,
                                  const SwapOptions& options) {
  return swap_budget(graph, pipeline_internal::budget_problem_of(graph, costs, options.budget), target, options);
}

Result<SwappedBudget> swap_budget(const Graph& graph, const BudgetProblem& steps, const Target& target,
                                  const SwapOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(pipeline_internal::check_fetched(steps, graph));
  LOWTIDE_RETURN_IF_ERROR(pipeline_internal::check_groups_of_hints(steps, options.hints));
  Result<OrderedGraph> ordered =
      pipeline_internal::order_for_budget(graph, target, {options.order, options.budget, options.effort});
  if (!ordered) return ordered.error();
  SwappedBudget swapped{.ordered = *std::move(ordered), .problem = steps, .link = options.link, .answer = {}};
  swapped.problem.budget = options.budget;
  for (const NodeHint& hint : options.hints) {
    swapped.problem.nodes[hint.node].runs_once = true;
    swapped.problem.nodes[hint.node].seed = {};  // it is for a second run
  }
  if (!pipeline_internal::has_countable_time(swapped.problem, swapped.link)) {
    return Error{ErrorCode::over_limit,
                 "all costs together take more than 2^50 - 1 nanoseconds (kMaxTime), with " +
                     std::to_string(options.link.nanoseconds_per_cost) +
                     " nanoseconds per unit, or all values that begin outside do; state a smaller unit or faster links",
                 ""};
  }
  std::optional<SwapAnswer> answer = pipeline_internal::search_swaps(
      swapped.problem, swapped.link, {.order = swapped.ordered.order, .load = swapped.ordered.load},
      {.effort = options.effort, .stop = options.stop, .on_improvement = options.on_improvement});
  if (!answer) return pipeline_internal::no_known_sequence();
  swapped.answer = *std::move(answer);
  return swapped;
}

}  // namespace lowtide
