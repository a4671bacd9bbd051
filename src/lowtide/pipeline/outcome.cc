// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/outcome.h"

#include <string>
#include <vector>

#include "lowtide/pipeline/capacity.h"
#include "lowtide/pipeline/complete_plan.h"

namespace lowtide::pipeline_internal {
namespace {

// The operands of a node are in memory while it runs, even if a plan repeats nodes or transfers tensors. So the
// working-set bound holds for all plans. Other bounds hold only for plans that run each node once.
std::vector<Bound> bounds_of(const LoadBound& run_once, const LoadBound& all_plans) {
  return {{BoundScope::run_once, run_once.bytes, std::string(run_once.name)},
          {BoundScope::all_plans, all_plans.bytes, std::string(all_plans.name)}};
}

}  // namespace

Plan sequential_plan(const Task& task, const NodeKernels& kernels, const ChosenOrder& order,
                     const PlacedSchedule& placed) {
  const LoadBound for_all_plans =
      working_set_bound(task.graph, kernels.least(BoundScope::all_plans), bound_options(task.aliases));
  return complete_plan(task, placed.plan,
                       {.load_as_given = plain_figures(task.graph).load_as_given,
                        .bounds = bounds_of(order.bound, for_all_plans),
                        .load = placed.schedule.load,
                        .schedule = placed.schedule.strategy,
                        .allocate = placed.strategy});
}

PlannedGraph collect(const Task& task, const NodeKernels& kernels, const ChosenOrder& order,
                     const PlacedSchedule& placed, const OrderBoundCheck& check) {
  PlannedGraph planned;
  planned.plan = sequential_plan(task, kernels, order, placed);
  planned.plain = plain_figures(task.graph);
  planned.working_set =
      working_set_bound(task.graph, kernels.least(BoundScope::run_once), bound_options(task.aliases)).bytes;
  planned.bound_check = check;
  planned.orders_tried = order.choice.tried;
  planned.searched_sets = order.choice.searched_sets;
  planned.is_search_complete = order.choice.is_search_complete;
  return planned;
}

void judge_capacity(const Task& task, PlannedGraph& planned) {
  const Bytes arena = arena_bytes(planned.plan);
  const std::optional<Bytes> for_arenas = total_capacity(task.machine);
  const std::optional<Bytes>& budget = task.options.budget;
  planned.caller = caller_bytes(task.graph);
  // The budget is the limit unless the target's own regions have less space than it leaves for the arenas.
  const bool is_budget_the_limit = budget && for_arenas == task.arena_budget;
  planned.capacity = is_budget_the_limit ? budget : for_arenas;
  planned.counted = is_budget_the_limit ? arena + planned.caller : arena;

  const Bytes excess = budget && planned.caller > *budget ? planned.caller - *budget : Bytes(0);
  if (overflow(task.machine, planned.plan.layout) > Bytes(0)) {
    planned.shortfall = shortfall(planned.plan, task.target, task.arena_budget);
  }
  planned.shortfall += excess;
  planned.plan.claims.shortfall = planned.shortfall;
  const Bound* bound = best_bound(planned.plan.claims, BoundScope::run_once);
  const bool is_above = for_arenas && bound != nullptr && bound->bytes > *for_arenas;
  planned.proven_infeasible = (is_above || excess > Bytes(0)) && planned.shortfall > Bytes(0);
}

}  // namespace lowtide::pipeline_internal
