// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/swap_budget.h"

#include <string>
#include <utility>

#include "lowtide/pipeline/budgets/budget_problem_of.h"
#include "lowtide/pipeline/budgets/swap_search.h"
#include "lowtide/pipeline/order_for_budget.h"

namespace lowtide {

Result<SwappedBudget> swap_budget(const Graph& graph, const IdVector<NodeId, std::int64_t>& costs, const Target& target,
                                  const SwapOptions& options) {
  Result<OrderedGraph> ordered =
      pipeline_internal::order_for_budget(graph, target, {options.order, options.budget, options.effort});
  if (!ordered) return ordered.error();
  SwappedBudget swapped{.ordered = *std::move(ordered),
                        .problem = pipeline_internal::budget_problem_of(graph, costs, options.budget),
                        .link = options.link,
                        .answer = {}};
  for (const NodeHint& hint : options.hints) swapped.problem.nodes[hint.node].runs_once = true;
  if (!pipeline_internal::has_countable_time(swapped.problem, swapped.link)) {
    return Error{ErrorCode::over_limit,
                 "all costs together take more than 2^50 - 1 nanoseconds (kMaxTime), with " +
                     std::to_string(options.link.nanoseconds_per_cost) + " nanoseconds per unit; state a smaller unit",
                 ""};
  }
  swapped.answer = pipeline_internal::search_swaps(
      swapped.problem, swapped.link, {.order = swapped.ordered.order, .load = swapped.ordered.load},
      {.effort = options.effort, .stop = options.stop, .on_improvement = options.on_improvement});
  return swapped;
}

}  // namespace lowtide
