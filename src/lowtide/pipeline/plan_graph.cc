// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/plan_graph.h"

#include <algorithm>
#include <memory>

#include "lowtide/analysis/bounds.h"
#include "lowtide/base/limits.h"
#include "lowtide/pipeline/assemble.h"
#include "lowtide/pipeline/choose_kernels.h"
#include "lowtide/pipeline/choose_order.h"
#include "lowtide/pipeline/pass.h"
#include "lowtide/pipeline/place.h"
#include "lowtide/pipeline/place_schedule.h"
#include "lowtide/pipeline/spread.h"
#include "lowtide/plan/plan_limits.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"
#include "lowtide/share/load.h"

namespace lowtide {
namespace {

using detail::Passes;
using detail::PlannedBodies;

// Ids and pairs of kernels, in the words of `verify`, which knows no target.
OrderFacts order_facts(const Graph& graph, const ChosenKernels& kernels, const AliasOptions& aliases) {
  OrderFacts facts{.alignment = aliases.bound_alignment(),
                   .inputs_live_throughout = aliases.inputs_live_throughout,
                   .copies = Flags<NodeId>(kernels.size())};
  facts.scratch.reserve(kernels.size());
  facts.in_place.reserve(kernels.size());
  for (NodeId id : all_ids<NodeId>(kernels.size())) {
    facts.scratch.push_back(kernels[id].scratch);
    std::vector<std::pair<TensorId, TensorId>> pairs;
    for (const auto& [input, output] : kernels[id].in_place) {
      pairs.emplace_back(*graph.node(id).inputs[static_cast<std::size_t>(input)],
                         *graph.node(id).outputs[static_cast<std::size_t>(output)]);
    }
    facts.in_place.push_back(std::move(pairs));
    if (!kernels[id].may_alias_views) facts.copies.set(id);
  }
  return facts;
}

struct Setting {
  const Target& target;
  const PlanOptions& options;
  Passes& passes;
};

// The inputs of a body are nobody else's (an If has none), so they are its own to hold. A body may come to lie in any
// region, so it keeps to the coarsest. The parts of a buffer lie one right after the other, which only suits regions
// that are no coarser than the first.
AliasOptions alias_options(const Setting& setting, bool is_body) {
  const detail::Alignments all = detail::alignments_of(setting.target);
  return {.alignment = is_body ? all.most : all.first,
          .views = setting.options.views,
          .in_place = setting.options.in_place,
          .parts = setting.options.parts && (is_body || all.most == all.first),
          .inputs_live_throughout = is_body,
          .finest_alignment = all.least};
}

Result<PlannedGraph> plan_one(const Graph& graph, const Setting& setting, int depth);

// Bodies of which only one runs share bytes. All others may run at once. Errors (over_limit): bodies that need more than a buffer may have, all together.
Result<void> lay_out(PlannedBodies& bodies, bool may_share, Bytes alignment) {
  for (const auto& plan : bodies.plans) {
    const Bytes begin = may_share ? Bytes(0) : round_up(bodies.room, alignment);
    bodies.offsets.emplace_back(begin.count());
    bodies.room = std::max(bodies.room, begin + plan->layout.arena[0]);
    if (bodies.room.count() <= limits::kMaxArenaBytes) continue;
    return Error{ErrorCode::over_limit,
                 "the bodies of node " + std::to_string(bodies.node.value()) + " need " +
                     std::to_string(bodies.room.count()) + " bytes or more together, above the limit of " +
                     std::to_string(limits::kMaxArenaBytes) + " (kMaxArenaBytes); plan smaller shapes",
                 ""};
  }
  return {};
}

// A node's bodies run inside its step, so they are planned first and their arenas become its scratch.
Result<std::vector<PlannedBodies>> plan_bodies(const Graph& graph, const Setting& setting, int depth) {
  std::vector<PlannedBodies> planned;
  if (depth > limits::kMaxBodyNesting) {
    return Error{ErrorCode::over_limit,
                 "graphs are nested deeper than " + std::to_string(limits::kMaxBodyNesting) + " (kMaxBodyNesting)", ""};
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (graph.node(id).bodies.empty()) continue;
    PlannedBodies bodies{id, {}, {}, {}};
    for (const Body& body : graph.node(id).bodies) {
      Result<PlannedGraph> inner = plan_one(*body.graph, setting, depth + 1);
      if (!inner) return inner.error();
      bodies.verdict = std::max(bodies.verdict, inner->bound_check.verdict);
      bodies.plans.push_back(std::make_shared<const Plan>(std::move(inner->plan)));
    }
    LOWTIDE_RETURN_IF_ERROR(
        lay_out(bodies, graph.op(id).traits.has_exclusive_bodies, detail::alignments_of(setting.target).most));
    planned.push_back(std::move(bodies));
  }
  return planned;
}

// What the bodies of a node take in every plan of the scope: those that may share bytes as much as the largest, so no
// less here.
Bytes proven_bytes(const PlannedBodies& bodies, BoundScope scope) {
  Bytes most;
  for (const auto& plan : bodies.plans) {
    if (const Bound* bound = best_bound(plan->claims, scope)) most = std::max(most, bound->bytes);
  }
  return most;
}

// What the nodes take as planned, and what they take in every plan of a scope: of bodies the arena that was found, and
// the bound that is proven; of a view the scratch of the kernel that copies it, and nothing.
struct Kernels {
  ChosenKernels planned;
  // nullopt: as planned
  std::optional<ChosenKernels> least_run_once;
  std::optional<ChosenKernels> least_all_plans;

  [[nodiscard]] const ChosenKernels& least(BoundScope scope) const {
    const std::optional<ChosenKernels>& proven = scope == BoundScope::run_once ? least_run_once : least_all_plans;
    return proven ? *proven : planned;
  }
};

Kernels kernels_of(const Graph& graph, const Target& target, const AliasOptions& aliases,
                   const std::vector<PlannedBodies>& bodies) {
  Kernels kernels{detail::choose_kernels(graph, target, aliases), std::nullopt, std::nullopt};
  const std::vector<NodeId> views = detail::views_with_scratch(graph, kernels.planned);
  if (bodies.empty() && views.empty()) return kernels;  // a graph may be large
  const auto least = [&](BoundScope scope) {
    ChosenKernels proven = kernels.planned;
    for (const PlannedBodies& inside : bodies) proven[inside.node].scratch += proven_bytes(inside, scope);
    for (NodeId id : views) proven[id].scratch = Bytes(0);
    return proven;
  };
  kernels.least_run_once = least(BoundScope::run_once);
  kernels.least_all_plans = least(BoundScope::all_plans);
  for (const PlannedBodies& inside : bodies) kernels.planned[inside.node].scratch += inside.room;
  return kernels;
}

Provenance provenance_of(const Graph& graph, const Setting& setting) {
  return {.tool = setting.options.tool,
          .model_sha256 = setting.options.model_sha256,
          .graph = graph.name(),
          .nodes = static_cast<std::int64_t>(graph.nodes().size()),
          .tensors = static_cast<std::int64_t>(graph.tensors().size()),
          .dims = setting.options.dims,
          .target = setting.target.name};
}

// The target's machine; of a budget each region that holds buffers may have what those before it leave.
Machine capped_machine(const Setting& setting) {
  Machine machine = setting.target.machine;
  if (!setting.options.budget) return machine;
  Bytes left = *setting.options.budget;
  for (RegionId id : addressable_regions(machine, detail::kWorker)) {
    Region& region = machine.regions[id.index()];
    region.capacity = std::min(region.capacity.value_or(left), left);
    left -= *region.capacity;
  }
  return machine;
}

// A body's arena is scratch of its node, one block wherever that lies.
Machine body_machine(const Setting& setting, Bytes alignment) {
  const Machine& machine = setting.target.machine;
  const RegionId first = addressable_regions(machine, detail::kWorker).front();
  const Worker& worker = machine.workers[detail::kWorker];
  return {.regions = {{.name = machine.regions[first.index()].name, .alignment = alignment}},
          .links = {},
          .workers = {{.name = worker.name, .count = worker.count}}};
}

std::optional<Bytes> alignment_of_scratch(const Plan& plan, const StepSpace& space) {
  if (!space.scratch || !plan.layout.buffers[*space.scratch].placement) return std::nullopt;
  return plan.machine.regions[plan.layout.buffers[*space.scratch].placement->region.index()].alignment;
}

// A body's arena starts at a multiple of the alignment of the region that its node's scratch came to lie in, and all of
// it at multiples of the coarsest: so that is its alignment there.
void settle_bodies(Plan& plan, Bytes alignment) {
  for (StepSpace& space : plan.layout.steps) {
    for (BodyPlan& body : space.bodies) {
      const Bytes here = std::min(alignment, alignment_of_scratch(plan, space).value_or(alignment));
      if (body.plan->machine.regions.empty() || body.plan->machine.regions[0].alignment == here) continue;
      Plan inner = *body.plan;
      inner.machine.regions[0].alignment = here;
      settle_bodies(inner, here);
      body.plan = std::make_shared<const Plan>(std::move(inner));
    }
  }
}

// Says whether the plan fits. One that does not is a right plan for a machine whose last region is larger.
void settle_capacity(PlannedGraph& planned, const Setting& setting) {
  Plan& plan = planned.plan;
  std::optional<Bytes> total = Bytes(0);
  for (RegionId id : addressable_regions(plan.machine, detail::kWorker)) {
    const std::optional<Bytes>& capacity = plan.machine.regions[id.index()].capacity;
    total = total && capacity ? std::optional<Bytes>(*total + *capacity) : std::nullopt;
  }
  planned.capacity = total;
  if (detail::overflow(plan) == Bytes(0)) return;
  const std::size_t at = detail::last_region(plan.machine).index();
  Region& last = plan.machine.regions[at];
  // What a budget left for the last region is no limit of its own: others may not have used all of theirs.
  const std::optional<Bytes>& own = setting.target.machine.regions[at].capacity;
  const std::optional<Bytes>& budget = setting.options.budget;
  if (own && plan.layout.arena[at] > *own) planned.shortfall = plan.layout.arena[at] - *own;
  if (budget && arena_bytes(plan) > *budget)
    planned.shortfall = std::max(planned.shortfall, arena_bytes(plan) - *budget);
  if (planned.shortfall == Bytes(0)) {
    last.capacity = own;
    return;
  }
  const Bound* bound = best_bound(plan.claims, BoundScope::run_once);
  planned.proven_infeasible = total && bound != nullptr && bound->bytes > *total;
  last.capacity = std::nullopt;
}

// A point that does not fit is a right plan for a larger machine, as in settle_capacity.
std::vector<Violation> verify_point(const Graph& graph, Plan& plan, Bytes coarsest) {
  if (detail::overflow(plan) > Bytes(0)) {
    plan.machine.regions[detail::last_region(plan.machine).index()].capacity = std::nullopt;
  }
  settle_bodies(plan, coarsest);
  return verify(graph, plan);
}

// Replaces the plan by the best one for several streams. Every point is verified here: later only the plan is seen.
Result<void> spread(const detail::SpreadInput& input, Bytes coarsest, PlannedGraph& planned) {
  Result<std::vector<detail::SpreadPlan>> plans = detail::spread_plans(input);
  if (!plans) return plans.error();
  const std::size_t chosen = detail::chosen_spread(*plans, input.options);
  for (std::size_t at = 0; at < plans->size(); ++at) {
    StreamPoint point = (*plans)[at].point;
    point.is_chosen = at == chosen;
    planned.points.push_back(std::move(point));
    if (at == chosen || !input.options.verify) continue;
    for (Violation& violation : verify_point(input.graph, (*plans)[at].plan, coarsest)) {
      planned.violations.push_back(std::move(violation));
    }
  }
  detail::mark_frontier(planned.points);
  planned.plan = std::move((*plans)[chosen].plan);
  return {};
}

// A bound rests on those of the bodies, so it is no better confirmed than they are.
OrderBoundCheck check_bound(const Graph& graph, const ChosenKernels& least, const LoadBound& bound,
                            const std::vector<PlannedBodies>& bodies, const Setting& setting,
                            const AliasOptions& aliases) {
  OrderBoundCheck check = check_order_bound(graph, order_facts(graph, least, aliases), bound.bytes, bound.node,
                                            setting.options.bound_check_effort);
  for (const PlannedBodies& inside : bodies) check.verdict = std::max(check.verdict, inside.verdict);
  return check;
}

// What a node reads and writes is in memory while it runs, however often it does and wherever its operands come from: so
// the largest step bounds every plan. All else holds for plans that run each node once.
std::vector<Bound> bounds_of(const LoadBound& run_once, const LoadBound& all_plans) {
  return {{BoundScope::run_once, run_once.bytes, std::string(run_once.name)},
          {BoundScope::all_plans, all_plans.bytes, std::string(all_plans.name)}};
}

// The story of one graph. Each line says why it stands where it does.
Result<PlannedGraph> plan_one(const Graph& graph, const Setting& setting, int depth) {
  Passes& passes = setting.passes;
  const AliasOptions aliases = alias_options(setting, depth > 0);
  PlannedGraph planned;

  // Bodies before everything: what they need is scratch of the node that runs them, and scratch decides orders.
  Result<std::vector<PlannedBodies>> bodies = plan_bodies(graph, setting, depth);
  if (!bodies) return bodies.error();

  // Kernels before the order: in-place chances and scratch are theirs.
  const Kernels both = passes.run("kernels", [&] { return kernels_of(graph, setting.target, aliases, *bodies); });
  const ChosenKernels& kernels = both.planned;

  // The order before the offsets: its load is the least that any offsets can reach. Bodies count with their own bounds
  // in the bound: another order inside them may need less than what was found.
  const ChosenKernels& least = both.least(BoundScope::run_once);
  planned.largest_step = largest_step(graph, least, detail::bound_options(aliases)).bytes;
  Result<detail::ChosenOrder> chosen = detail::choose_order(graph, kernels, least,
                                                            {.order = setting.options.order,
                                                             .aliases = aliases,
                                                             .effort = setting.options.order_effort},
                                                            passes);
  if (!chosen) return chosen.error();
  planned.orders_tried = chosen->schedule.tried;
  planned.searched_sets = chosen->schedule.searched_sets;

  // Offsets last: buffers and their lifespans are final now, unless other ways to share bytes are better to place.
  const Machine machine = depth == 0 ? capped_machine(setting) : body_machine(setting, aliases.alignment);
  const detail::PlanParts parts{graph, kernels, *bodies, machine};
  Result<detail::PlacedSchedule> placed = passes.run("allocate", [&] {
    return detail::place_schedule({parts, aliases, setting.options.allocate_effort,
                                   setting.options.order == "auto"},
                                  std::move(chosen->schedule));
  });
  if (!placed) return placed.error();
  const Schedule& best = placed->schedule;
  planned.plan = std::move(placed->plan);

  // The bound once more, by a reader that shares nothing with those who found it.
  planned.bound_node = chosen->bound.node;
  planned.bound_check =
      passes.run("check bound", [&] { return check_bound(graph, least, chosen->bound, *bodies, setting, aliases); });

  planned.plain = plain_figures(graph);
  Plan& plan = planned.plan;
  plan.provenance = provenance_of(graph, setting);
  const LoadBound for_all_plans =
      largest_step(graph, both.least(BoundScope::all_plans), detail::bound_options(aliases));
  plan.claims = {.load_as_given = planned.plain.load_as_given,
                 .load = best.load,
                 .bounds = bounds_of(chosen->bound, for_all_plans),
                 .schedule = best.strategy,
                 .allocate = placed->strategy,
                 .allocate_optimal = arena_bytes(plan) == best.load};
  plan.claims.schedule_optimal = detail::reaches_bound(plan);

  // What a plan file cannot hold is refused here: what comes next counts on these limits.
  LOWTIDE_RETURN_IF_ERROR(check_plan_limits(plan));

  // Streams, waves and dataflow after everything else: an order that is good in memory says what may run ahead, and
  // what that costs. Bodies run inside a step, so they have one stream.
  if (depth == 0 && detail::asks_for_spread(setting.options) && !graph.nodes().empty()) {
    LOWTIDE_RETURN_IF_ERROR(passes.run("streams", [&] {
      return spread({parts, best, aliases, plan, setting.options}, detail::alignments_of(setting.target).most, planned);
    }));
  }
  return planned;
}

}  // namespace

Result<PlannedGraph> plan_graph(const Graph& graph, const Target& target, const PlanOptions& options) {
  if (target.machine.regions.empty() || target.machine.workers.empty() || target.catalogue == nullptr) {
    return Error{ErrorCode::invalid, "a target has at least one region, one worker and a catalogue", ""};
  }
  if (options.streams < 1 || options.streams > limits::kMaxStreams) {
    return Error{ErrorCode::invalid,
                 "a plan has 1 to " + std::to_string(limits::kMaxStreams) + " streams (kMaxStreams), not " +
                     std::to_string(options.streams),
                 ""};
  }
  if (options.budget && options.budget->count() > limits::kMaxArenaBytes) {
    return Error{ErrorCode::invalid,
                 "a budget of " + std::to_string(options.budget->count()) + " bytes is above the limit of " +
                     std::to_string(limits::kMaxArenaBytes) + " (kMaxArenaBytes); without one there is no limit",
                 ""};
  }
  Passes passes;
  const Setting setting{target, options, passes};
  Result<PlannedGraph> planned = plan_one(graph, setting, 0);
  if (!planned) return planned.error();
  if (planned->points.size() > 1) LOWTIDE_RETURN_IF_ERROR(check_plan_limits(planned->plan));

  settle_capacity(*planned, setting);
  settle_bodies(planned->plan, detail::alignments_of(target).most);

  // Always, on the finished plan, by a reader that shares nothing with the passes above.
  if (options.verify) {
    for (Violation& violation : passes.run("verify", [&] { return verify(graph, planned->plan); })) {
      planned->violations.push_back(std::move(violation));
    }
  }
  planned->times = passes.take_times();
  return planned;
}

}  // namespace lowtide
