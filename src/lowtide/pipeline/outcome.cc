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
  planned.capacity = total_capacity(task.machine);
  if (overflow(task.machine, planned.plan.layout) == Bytes(0)) return;
  planned.shortfall = shortfall(planned.plan, task.target, task.options.budget);
  planned.plan.claims.shortfall = planned.shortfall;
  const Bound* bound = best_bound(planned.plan.claims, BoundScope::run_once);
  const bool is_above = planned.capacity && bound != nullptr && bound->bytes > *planned.capacity;
  planned.proven_infeasible = is_above && planned.shortfall > Bytes(0);
}

}  // namespace lowtide::pipeline_internal
