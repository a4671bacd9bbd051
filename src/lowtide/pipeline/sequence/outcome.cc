// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/sequence/outcome.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "lowtide/pipeline/sequence/complete_plan.h"
#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/pipeline/task/shortfall.h"
#include "lowtide/pipeline/task/target_kernels.h"
#include "lowtide/share/load.h"

namespace lowtide::pipeline_internal {
namespace {

Bound claimed(BoundScope scope, const LoadBound& bound) { return {scope, bound.bytes, std::string(bound.name)}; }

// The largest bound for plans with the kernels of this one.
LoadBound bound_for_its_kernels(const Task& task, const Sequence& sequence) {
  const LoadBound& known = sequence.order.bound;
  if (sequence.bound_scope == BoundScope::chosen_kernels) return known;
  const ChosenKernels& least = sequence.choice.kernels.least(BoundScope::chosen_kernels);
  const Schedule& schedule = sequence.placed.schedule;
  const LoadBound own =
      live_set_bound(task.graph, least, schedule.order,
                     load_profile(schedule.aliases, sequence.choice.kernels.planned, schedule.order, task.aliases),
                     bound_options(task.aliases));
  return own.bytes > known.bytes ? own : known;
}

// The operands of a node are in memory while it runs, even if a plan repeats nodes or transfers tensors. So the
// working-set bound holds for all plans. Other bounds hold only for plans that run each node once. A bound for the
// kernels of this plan is claimed only if it is above the one for all kernels.
std::vector<Bound> bounds_of(const Task& task, const Sequence& sequence, const std::optional<LoadBound>& run_once) {
  std::vector<Bound> bounds;
  const bool has_own = sequence.choice.kernels.has_other_kernels || !run_once;
  const LoadBound own = has_own ? bound_for_its_kernels(task, sequence) : LoadBound();
  if (has_own && (!run_once || own.bytes > run_once->bytes)) {
    bounds.push_back(claimed(BoundScope::chosen_kernels, own));
  }
  if (run_once) bounds.push_back(claimed(BoundScope::run_once, *run_once));
  const LoadBound all_plans = working_set_bound(task.graph, sequence.choice.kernels.least(BoundScope::all_plans),
                                                BoundScope::all_plans, bound_options(task.aliases));
  bounds.push_back(claimed(BoundScope::all_plans, all_plans));
  return bounds;
}

// Leaves only bounds for plans with the kernels of this one. Each bound that is withdrawn also holds for these plans.
// Recursion is bounded by limits::kMaxBodyNesting.
void withdraw_bounds_of_other_kernels(Plan& plan) {
  std::vector<Bound>& bounds = plan.claims.bounds;
  const auto largest =
      std::max_element(bounds.begin(), bounds.end(), [](const Bound& a, const Bound& b) { return a.bytes < b.bytes; });
  if (largest != bounds.end()) {
    bounds = {Bound(*largest)};
    bounds.front().scope = BoundScope::chosen_kernels;
  }
  for (StepSpace& space : plan.layout.steps) {
    for (BodyPlan& body : space.bodies) {
      Plan inner = *body.plan;
      withdraw_bounds_of_other_kernels(inner);
      body.plan = std::make_shared<const Plan>(std::move(inner));
    }
  }
}

// What the kernels of a plan cost in comparison with the fastest.
KernelExchange exchange_of(const Task& task, const Alternatives& plans, const Sequence& sequence) {
  const ExchangeCost cost =
      exchange_cost(task.graph, plans.options, sequence.choice.indices, sequence.placed.schedule.aliases);
  return {.nodes = cost.nodes, .added_picoseconds = cost.picoseconds, .arena = arena_bytes(sequence.placed.plan)};
}

// Bounds count buffers in whole units of the finest alignment. The last buffer of a region need not fill its last unit.
// Returns the most bytes that any buffer can leave unused in it, also in the arena of a body. A buffer that holds
// several tensors because of a slice, split or concat can have any size, and so can the arena of a body with scratch
// after it. All other buffers have the size of a tensor or of scratch. The inputs of a body may be in its arena.
// O(tensors + kernels of all nodes) over all bodies. Recursion is bounded by limits::kMaxBodyNesting.
Bytes most_padding(const Target& target, const Graph& graph, bool is_body) {
  const Bytes unit = alignments_of(target).least;
  const Bytes any_size = unit - Bytes(1);
  Bytes most;
  const auto count = [&](Bytes size) { most = std::max(most, round_up(size, unit) - size); };
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.producer || is_body) count(tensor.size);
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (is_partial_view(graph.op(id).traits.view)) return any_size;
    const std::vector<Body>& bodies = graph.node(id).bodies;
    for (const Kernel& kernel : target.catalogue->kernels(graph, id)) {
      if (!bodies.empty() && kernel.scratch > Bytes(0)) return any_size;
      count(kernel.scratch);
    }
    for (const Body& body : bodies) most = std::max(most, most_padding(target, *body.graph, true));
  }
  return most;
}

}  // namespace

Plan sequential_plan(const Task& task, const Sequence& sequence, const std::optional<LoadBound>& for_all_kernels) {
  const PlacedSchedule& placed = sequence.placed;
  return complete_plan(task, placed.plan,
                       {.load_as_given = plain_figures(task.graph).load_as_given,
                        .bounds = bounds_of(task, sequence, for_all_kernels),
                        .load = placed.schedule.load,
                        .schedule = placed.schedule.strategy,
                        .allocate = placed.strategy});
}

PlannedGraph collect(const Task& task, const Alternatives& plans, const Sequence& sequence) {
  const ChosenOrder& order = sequence.order;
  PlannedGraph planned;
  planned.plan = sequential_plan(task, sequence, plans.for_all_kernels);
  planned.plain = plain_figures(task.graph);
  planned.estimate = estimate_of(task.graph, planned.plan.program, sequence.choice.kernels.planned);
  planned.working_set = working_set_bound(task.graph, sequence.choice.kernels.least(BoundScope::run_once),
                                          BoundScope::run_once, bound_options(task.aliases))
                            .bytes;
  // The bound of the plan is the one for all kernels, unless its own is higher. A check counts only for its own bound.
  const BoundScope claimed = planned.plan.claims.bounds.front().scope;
  if (claimed == sequence.bound_scope) {
    planned.bound_check = sequence.check;
  } else if (claimed == BoundScope::run_once && plans.lightest) {
    planned.bound_check = plans.lightest->check;
  }
  if (plans.options.has_lighter()) planned.exchange = exchange_of(task, plans, sequence);
  if (plans.lightest) planned.lightest = exchange_of(task, plans, *plans.lightest);
  planned.orders_tried = order.choice.tried;
  planned.searched_sets = order.choice.searched_sets;
  planned.is_search_complete = order.choice.is_search_complete;
  return planned;
}

bool is_capacity_below_bound(const Task& task, const Claims& claims, BoundScope scope) {
  const std::optional<Bytes> for_arenas = total_capacity(task.machine);
  const Bound* bound = best_bound(claims, scope);
  if (!for_arenas || bound == nullptr) return false;
  const auto regions = static_cast<std::int64_t>(writable_regions(task.machine, kWorker).size());
  const Bytes unfilled = most_padding(task.target, task.graph, task.is_body()) * regions + rounded_down(task.weights);
  return bound->bytes > *for_arenas + unfilled;
}

void judge_capacity(const Task& task, PlannedGraph& planned) {
  // Options took abilities from kernels, which the target's kernels have.
  if (!task.aliases.views || !task.aliases.in_place) {
    withdraw_bounds_of_other_kernels(planned.plan);
    planned.region_proof = std::nullopt;
  }
  const Bytes arena = arena_bytes(planned.plan);
  const std::optional<Bytes> for_arenas = total_capacity(task.machine);
  const std::optional<Bytes>& budget = task.options.budget;
  planned.caller = caller_bytes(task.graph);
  // The budget is the limit unless the target's own regions have less space than it leaves for the arenas.
  const bool is_budget_the_limit = budget && for_arenas == task.arena_budget;
  planned.is_budget_the_limit = is_budget_the_limit;
  planned.capacity = is_budget_the_limit ? budget : total_capacity(task.target.machine);
  planned.counted = is_budget_the_limit ? arena + planned.caller : arena;
  planned.weights = task.weights;
  planned.counts_weights =
      !is_budget_the_limit && task.weights && task.weights->bytes > Bytes(0) && !task.weights->region.is_read_only;
  if (planned.counts_weights) planned.counted += task.weights->bytes;

  const Bytes excess = (budget && planned.caller > *budget ? planned.caller - *budget : Bytes(0)) +
                       (task.weights ? task.weights->excess() : Bytes(0));
  planned.shortfall = shortfall_of(task, planned.plan.layout) + excess;
  planned.plan.claims.shortfall = planned.shortfall;
  const bool is_above = is_capacity_below_bound(task, planned.plan.claims, BoundScope::run_once);
  planned.proven_infeasible = (is_above || planned.region_proof || excess > Bytes(0)) && planned.shortfall > Bytes(0);
}

}  // namespace lowtide::pipeline_internal
