// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/plan_graph.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/pipeline/parallel/choose_parallel.h"
#include "lowtide/pipeline/parallel/parallelize.h"
#include "lowtide/pipeline/place/place_schedule.h"
#include "lowtide/pipeline/plan_again.h"
#include "lowtide/pipeline/recompute/recompute.h"
#include "lowtide/pipeline/sequence/bodies.h"
#include "lowtide/pipeline/sequence/confirm_bound.h"
#include "lowtide/pipeline/sequence/exchange.h"
#include "lowtide/pipeline/sequence/kernel_choice.h"
#include "lowtide/pipeline/sequence/known_sequences.h"
#include "lowtide/pipeline/sequence/less_sharing.h"
#include "lowtide/pipeline/sequence/outcome.h"
#include "lowtide/pipeline/sequence/region_proof.h"
#include "lowtide/pipeline/stages/stages.h"
#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/pipeline/task/shortfall.h"
#include "lowtide/plan/plan_limits.h"
#include "lowtide/schedule/choose_order.h"

namespace lowtide::pipeline_internal {
namespace {

// The stages that assign offsets to a sequence with an order.
Result<void> assign_places(const Task& task, Sequence& made, Stages& stages) {
  // Offsets after the order, which decides lifespans. If the arena is above the peak, other orders and other
  // sharing may lower it.
  const PlanParts parts = parts_of(task, made.choice);
  const PlaceInput placing = place_input(task, parts);
  LOWTIDE_TRY(PlacedSchedule placed, stages.run(PlanStage::allocate, task.graph,
                                                [&] { return place_schedule(placing, made.order.choice.best); }));
  made.placed = std::move(placed);
  stages.verify_after(PlanStage::allocate, task, [&] { return sequential_plan(task, made, std::nullopt); });
  LOWTIDE_TRY(PlacedSchedule refined,
              stages.run_on(Result<PlacedSchedule>(std::move(made.placed)), PlanStage::refine, task.graph,
                            [&](Result<PlacedSchedule> known) -> Result<PlacedSchedule> {
                              known = refine_placement(placing, *std::move(known), made.order.choice.runners_up);
                              if (!known) return known;
                              return with_less_sharing(task, made.choice, made.order.bound.bytes, *std::move(known));
                            }));
  made.placed = std::move(refined);
  return {};
}

// A sequence of an earlier plan, on the machine of this task. Offsets are assigned again if others may fit.
Result<Sequence> plan_known(const Task& task, Sequence known, Stages& stages) {
  known.placed.plan.machine = task.machine;
  if (!keeps_offsets(task, known)) LOWTIDE_RETURN_IF_ERROR(assign_places(task, known, stages));
  return known;
}

// The stages from the order to the offsets, for given kernels. `scope`: the kernels that the bound counts.
Result<Sequence> plan_sequence(const Task& task, KernelChoice choice, BoundScope scope, Stages& stages) {
  if (const Sequence* known = stages.known_sequence(task, choice, scope)) return plan_known(task, *known, stages);
  const Graph& graph = task.graph;
  Sequence made{.choice = std::move(choice), .order = {}, .bound_scope = scope, .placed = {}, .check = {}};

  // The order before offsets, because no offsets get below its load. Heuristics come before the search: they often meet
  // the bound, and otherwise the search needs the load that it must beat.
  const ScheduleInput input{graph, made.choice.kernels.planned, made.choice.kernels.least(scope)};
  LOWTIDE_TRY(ChosenOrder first,
              stages.run(PlanStage::order, graph, [&] { return choose_order(input, schedule_options(task)); }));
  made.order = stages.run_on(std::move(first), PlanStage::search, graph, [&](ChosenOrder known) {
    return search_for_order(input, schedule_options(task), std::move(known));
  });

  // The bound is raised after the best order is known, because it is computed first where the load is highest.
  made.order = stages.run_on(std::move(made.order), PlanStage::bound, graph,
                             [&](ChosenOrder known) { return tighten_bound(input, task.aliases, std::move(known)); });

  LOWTIDE_RETURN_IF_ERROR(assign_places(task, made, stages));

  // The bound is confirmed last, in its final form, with the verifier's own code.
  made.check = stages.run_on(OrderBoundCheck{}, PlanStage::check_bound, graph, [&](const OrderBoundCheck&) {
    return confirm_bound(task, input.least_kernels, made.order.bound, made.choice.bodies);
  });
  stages.keep_sequence(task, made);
  return made;
}

// Plans again with the exchanged kernels, because another order may suit them better. It makes a plan that fits
// smaller, not faster. So if there are plans for other budgets, with other kernels, this search is short.
Result<Sequence> search_again(const Task& task, const Alternatives& plans, Sequence exchanged, Stages& stages) {
  PlanOptions options = task.options;
  if (stages.has_other_plans()) options.order_effort = std::min(options.order_effort, kQuickOrderEffort);
  const Task search{.graph = task.graph,
                    .target = task.target,
                    .options = options,
                    .aliases = task.aliases,
                    .machine = task.machine,
                    .arena_budget = task.arena_budget,
                    .weights = task.weights,
                    .depth = task.depth};
  Result<Sequence> again =
      plan_sequence(search, choose_kernels(task, plans.options, plans.bodies, exchanged.choice.indices),
                    BoundScope::chosen_kernels, stages);
  if (!again) return again.error();
  const Layout& layout = again->placed.plan.layout;
  const bool is_no_larger = arena_bytes(again->placed.plan) <= arena_bytes(exchanged.placed.plan);
  // With several regions, a smaller sum of arenas may still exceed the last region.
  return is_no_larger && !exceeds(task, layout) ? again : std::move(exchanged);
}

// Adds the plan with the lightest kernels. If only that one fits, also looks for one between it and the fastest.
Result<Alternatives> with_other_kernels(const Task& task, Alternatives plans, Stages& stages) {
  if (!plans.options.has_lighter()) return plans;
  LOWTIDE_TRY(Sequence lightest,
              plan_sequence(task, choose_kernels(task, plans.options, plans.bodies, lightest_of(plans.options)),
                            BoundScope::run_once, stages));
  plans.lightest = std::move(lightest);
  if (!exceeds(task, plans.fastest.placed.plan.layout) || exceeds(task, plans.lightest->placed.plan.layout))
    return plans;
  LOWTIDE_TRY(std::optional<Sequence> exchanged, exchange_kernels(task, plans));
  if (!exchanged) return plans;
  LOWTIDE_TRY(Sequence best, search_again(task, plans, *std::move(exchanged), stages));
  plans.exchanged = std::move(best);
  return plans;
}

Result<PlannedBody> plan_body(const Task& task, Stages& stages);

// The stages of one graph, in order, with the reason for each place. The bodies of nodes pass through them too.
Result<Alternatives> run_stages(const Task& task, Stages& stages) {
  const Graph& graph = task.graph;

  // Bodies first. A body runs inside the step of its node, so its arena is scratch of that node, and scratch decides
  // which order is good.
  LOWTIDE_TRY(BodyPlans bodies, stages.run(PlanStage::bodies, graph, [&] {
    return plan_bodies(task, [&](const Graph& body) { return plan_body(body_task(task, body), stages); });
  }));

  // Kernels before the order, because they say how much scratch a node needs and what it may overwrite.
  KernelOptions options = stages.run(PlanStage::kernels, graph, [&] { return kernel_options(task, bodies); });

  // The fastest kernels first. If no others need less, the bound holds for all kernels.
  const BoundScope scope = options.least ? BoundScope::chosen_kernels : BoundScope::run_once;
  LOWTIDE_TRY(Sequence fastest,
              plan_sequence(task, choose_kernels(task, options, bodies, fastest_of(options)), scope, stages));

  // Other kernels after that, because only this plan says whether they are needed, and where.
  Alternatives plans{.options = std::move(options), .bodies = std::move(bodies), .fastest = std::move(fastest)};
  Result<Alternatives> all =
      stages.run_on(Result<Alternatives>(std::move(plans)), PlanStage::exchange, graph,
                    [&](Result<Alternatives> known) { return with_other_kernels(task, *std::move(known), stages); });
  if (all) all->for_all_kernels = bound_for_all_kernels(task, *all);
  return all;
}

// Recursion is bounded by limits::kMaxBodyNesting.
Result<PlannedBody> plan_body(const Task& task, Stages& stages) {
  LOWTIDE_TRY(const Alternatives plans, run_stages(task, stages));
  PlannedBody body{collect(task, plans, plans.fastest), std::nullopt};
  if (plans.lightest) body.lightest = collect(task, plans, *plans.lightest);
  return body;
}

// The model's graph: the plan with the kernels that suit the limits, on as many streams as the options ask for.
Result<PlannedGraph> plan_model(const Task& task, Stages& stages) {
  LOWTIDE_TRY(const Alternatives plans, run_stages(task, stages));
  const Sequence& chosen = plans.chosen(task);
  PlannedGraph planned = collect(task, plans, chosen);
  if (exceeds(task, planned.plan.layout)) planned.region_proof = region_proof(task, chosen);

  // Sizes that a plan file cannot hold are refused here, because later stages rely on these limits.
  LOWTIDE_RETURN_IF_ERROR(check_plan_limits(planned.plan));

  // Recomputation after the exchange of kernels, because only then it is known that each node cannot run once. It
  // begins from the order and the sharing of these plans. Plans on several streams do not recompute.
  if (may_recompute(task, planned.plan)) {
    return stages.run_on(Result<PlannedGraph>(std::move(planned)), PlanStage::recompute, task.graph,
                         [&](Result<PlannedGraph> known) { return recompute(task, plans, *std::move(known)); });
  }
  if (!asks_for_parallel(task)) return planned;

  // Streams, waves and dataflow last, because an order that needs little memory says which nodes may run early, and
  // what that costs. Such a run may need other kernels than the sequence. A body runs inside a step, so it stays a
  // sequence.
  stages.verify_after(PlanStage::exchange, task, [&] { return planned.plan; });
  return stages.run_on(Result<PlannedGraph>(std::move(planned)), PlanStage::parallelize, task.graph,
                       [&](Result<PlannedGraph> known) { return choose_parallel(task, plans, *std::move(known)); });
}

// A budget does not say how many bytes each region gets. In the first plan, a region may use all that faster regions
// leave. If this plan exceeds the budget, others may need less: the plan without a budget, and plans that give more to
// the last region, because tensors of different times can share bytes only if they are in one region.
Result<PlannedGraph> try_other_splits(const Task& task, PlannedGraph planned, Stages& stages) {
  const auto is_done = [&] { return planned.fits() || (task.options.stop != nullptr && task.options.stop->load()); };
  if (is_done() || !task.arena_budget || total_capacity(task.machine) != task.arena_budget) return planned;
  const std::vector<Bytes> arenas = planned.plan.layout.arena;
  const Bytes in_earlier_regions = arena_bytes(planned.plan) - arenas[last_region(task.machine).index()];
  if (in_earlier_regions == Bytes(0)) return planned;
  const Bytes missing = shortfall_of(task, planned.plan.layout);
  Task other = task;
  for (const Machine& machine :
       {without_weights(task.target.machine, task.weights), with_smaller_arenas(task, arenas, missing),
        with_smaller_arenas(task, arenas, in_earlier_regions)}) {
    if (is_done()) return planned;
    other.machine = machine;
    LOWTIDE_TRY(PlannedGraph made, plan_model(other, stages));
    judge_capacity(task, made);
    if (made.shortfall < planned.shortfall) planned = std::move(made);
  }
  return planned;
}

}  // namespace

Result<PlannedGraph> plan_again(const Graph& graph, const Target& target, const PlanOptions& options,
                                KnownSequences* known) {
  LOWTIDE_RETURN_IF_ERROR(check_options(target, options));
  const Task task = model_task(graph, target, options);
  Stages stages(options, known);
  Result<PlannedGraph> planned = plan_model(task, stages);
  if (!planned) return planned.error();
  judge_capacity(task, *planned);
  planned = try_other_splits(task, *std::move(planned), stages);
  if (!planned) return planned.error();
  LOWTIDE_RETURN_IF_ERROR(check_plan_limits(planned->plan));

  // The finished plan is verified by code that shares nothing with the stages above.
  return stages.finish(task, *std::move(planned));
}

}  // namespace lowtide::pipeline_internal

namespace lowtide {

Result<PlannedGraph> plan_graph(const Graph& graph, const Target& target, const PlanOptions& options) {
  return pipeline_internal::plan_again(graph, target, options, nullptr);
}

}  // namespace lowtide
