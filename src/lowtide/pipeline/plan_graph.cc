// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/plan_graph.h"

#include <utility>

#include "lowtide/pipeline/bodies.h"
#include "lowtide/pipeline/confirm_bound.h"
#include "lowtide/pipeline/node_kernels.h"
#include "lowtide/pipeline/outcome.h"
#include "lowtide/pipeline/parallelize.h"
#include "lowtide/pipeline/place_schedule.h"
#include "lowtide/pipeline/stages.h"
#include "lowtide/plan/plan_limits.h"
#include "lowtide/schedule/choose_order.h"

namespace lowtide::pipeline_internal {
namespace {

// The stages of one graph, in order, with the reason for each place. The bodies of nodes pass through them too.
Result<PlannedGraph> run_stages(const Task& task, Stages& stages) {
  const Graph& graph = task.graph;

  // Bodies first. A body runs inside the step of its node, so its arena is scratch of that node, and scratch decides
  // which order is good.
  const Result<std::vector<PlannedBodies>> bodies = stages.run(PlanStage::bodies, graph, [&] {
    return plan_bodies(task, [&](const Graph& body) { return run_stages(body_task(task, body), stages); });
  });
  if (!bodies) return bodies.error();

  // Kernels before the order, because they say how much scratch a node needs and what it may overwrite.
  const NodeKernels kernels = stages.run(PlanStage::kernels, graph, [&] { return choose_node_kernels(task, *bodies); });

  // The order before offsets, because no offsets get below its load. Heuristics come before the search: they often meet
  // the bound, and otherwise the search needs the load that it must beat.
  const ScheduleInput input{graph, kernels.planned, kernels.least(BoundScope::run_once)};
  Result<ChosenOrder> first =
      stages.run(PlanStage::order, graph, [&] { return choose_order(input, schedule_options(task)); });
  if (!first) return first.error();
  ChosenOrder order = stages.run_on(*std::move(first), PlanStage::search, graph, [&](ChosenOrder known) {
    return search_for_order(input, schedule_options(task), std::move(known));
  });

  // The bound is raised after the best order is known, because it is computed first where the load is highest.
  order = stages.run_on(std::move(order), PlanStage::bound, graph,
                        [&](ChosenOrder known) { return tighten_bound(input, task.aliases, std::move(known)); });

  // Offsets after the order, which decides lifespans. If the arena is above the peak, other orders and other
  // sharing may lower it.
  const PlanParts parts{graph, kernels.planned, *bodies, task.machine};
  const PlaceInput placing = place_input(task, parts);
  Result<PlacedSchedule> placed =
      stages.run(PlanStage::allocate, graph, [&] { return place_schedule(placing, order.choice.best); });
  stages.verify_after(PlanStage::allocate, task, placed,
                      [&] { return sequential_plan(task, kernels, order, *placed); });
  if (!placed) return placed.error();
  placed = stages.run_on(std::move(placed), PlanStage::refine, graph, [&](Result<PlacedSchedule> known) {
    return refine_placement(placing, *std::move(known), order.choice.runners_up);
  });
  if (!placed) return placed.error();

  // The bound is confirmed last, in its final form, with the verifier's own code.
  const OrderBoundCheck check = stages.run_on(
      OrderBoundCheck{}, PlanStage::check_bound, graph,
      [&](const OrderBoundCheck&) { return confirm_bound(task, input.least_kernels, order.bound, *bodies); });
  PlannedGraph planned = collect(task, kernels, order, *placed, check);

  // Sizes that a plan file cannot hold are refused here, because later stages rely on these limits.
  LOWTIDE_RETURN_IF_ERROR(check_plan_limits(planned.plan));
  if (!asks_for_parallel(task)) return planned;

  // Streams, waves and dataflow last, because an order that needs little memory says which nodes may run early, and
  // what that costs. A body runs inside a step, so it stays a sequence.
  stages.verify_after(PlanStage::refine, task, placed, [&] { return planned.plan; });
  return stages.run_on(Result<PlannedGraph>(std::move(planned)), PlanStage::parallelize, graph,
                       [&](Result<PlannedGraph> sequence) {
                         return parallelize({parts, task, placed->schedule, task.aliases}, *std::move(sequence));
                       });
}

}  // namespace
}  // namespace lowtide::pipeline_internal

namespace lowtide {

Result<PlannedGraph> plan_graph(const Graph& graph, const Target& target, const PlanOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(pipeline_internal::check_options(target, options));
  const pipeline_internal::Task task = pipeline_internal::model_task(graph, target, options);
  pipeline_internal::Stages stages(options);
  Result<PlannedGraph> planned = pipeline_internal::run_stages(task, stages);
  if (!planned) return planned.error();
  LOWTIDE_RETURN_IF_ERROR(check_plan_limits(planned->plan));
  pipeline_internal::judge_capacity(task, *planned);

  // The finished plan is verified by code that shares nothing with the stages above.
  return stages.finish(graph, *std::move(planned));
}

}  // namespace lowtide
