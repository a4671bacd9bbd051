// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/recompute/run_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lowtide/analysis/peak.h"
#include "lowtide/base/try.h"
#include "lowtide/pipeline/place/other_sharing.h"
#include "lowtide/pipeline/recompute/place_transfers.h"
#include "lowtide/pipeline/recompute/plan_clock.h"
#include "lowtide/pipeline/sequence/exchange.h"
#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/share/load.h"
#include "lowtide/target/cost.h"

namespace lowtide::pipeline_internal {

namespace {

// A plan of the expanded graph, without transfers.
Result<PlacedSchedule> place_runs(const Task& task, const ExpandedGraph& expanded, const ExpandedKernels& own) {
  const PlanParts parts{expanded.graph, own.kernels, own.bodies, task.machine};
  std::vector<NodeId> order;
  for (NodeId id : all_ids<NodeId>(expanded.graph.nodes().size())) order.push_back(id);
  Schedule schedule{.order = std::move(order), .strategy = "rematerialize", .load = {}, .aliases = {}};
  schedule = share_again(expanded.graph, own.kernels, std::move(schedule), task.aliases);

  // Other orders and other sharing only help if the live bytes fit and the offsets do not. Transfers are for one order.
  PlaceInput input = place_input(task, parts);
  input.may_reorder = input.may_reorder && expanded.moves.empty();
  Result<PlacedSchedule> placed = place_schedule(input, schedule);
  const auto is_close = [&] {
    return schedule.load <= *total_capacity(task.machine) && exceeds(task, placed->plan.layout);
  };
  if (placed && is_close()) placed = refine_placement(input, *std::move(placed), {});
  return placed;
}

// Adds the tensors that should leave the arena or come back to it, but are views of memory of the caller in this plan.
// Returns whether there are any.
bool add_stays(const ExpandedGraph& expanded, const Plan& plan, std::set<TensorId>& stays) {
  const std::size_t before = stays.size();
  for (const ExpandedMove& move : expanded.moves) {
    const Node& node = expanded.graph.node(move.node);
    const bool is_out = move.transfer.direction == TransferDirection::out;
    const TensorId inside = is_out ? *node.inputs[0] : *node.outputs[0];
    // Value i is what a node writes to tensor i (assemble.h).
    const ValuePlace& place = plan.layout.values[ValueId(inside.value())];
    if (!plan.layout.buffers[place.buffer].placement) stays.insert(expanded.tensor_of[inside]);
  }
  return stays.size() > before;
}

}  // namespace

Result<RunPlan> plan_runs(const Task& task, const Sequence& sequence, RunSequence runs) {
  Result<ExpandedGraph> expanded = Error{};
  Result<PlacedSchedule> placed = Error{};
  do {
    expanded = expand_runs(task.graph, sequence.placed.schedule.aliases, task.aliases, runs);
    if (!expanded) return expanded.error();
    placed = place_runs(task, *expanded, expand_kernels(*expanded, sequence.choice));
    if (!placed) return placed.error();
  } while (add_stays(*expanded, placed->plan, runs.stays));
  RunPlan made{.plan = std::move(placed->plan), .load = {}, .allocate = std::move(placed->strategy)};
  if (!expanded->moves.empty()) {
    LOWTIDE_TRY(Plan moved, place_transfers(*expanded, *swap_route(task.machine), std::move(made.plan)));
    made.plan = std::move(moved);
  }
  made.plan = contract_plan(task.graph, *expanded, std::move(made.plan));
  const std::vector<Bytes> loads = load_by_step(made.plan);
  made.load = *std::max_element(loads.begin(), loads.end());
  made.picoseconds = clock_of(task.graph, made.plan, sequence.choice.kernels.planned).end;
  return made;
}

std::vector<Rerun> reruns_of(const Graph& graph, const Plan& plan, const ChosenKernels& kernels) {
  IdVector<NodeId, std::int64_t> runs(graph.nodes().size(), 0);
  for (const Step& step : plan.program.steps) {
    if (const Compute* compute = std::get_if<Compute>(&step.work)) ++runs[compute->node];
  }
  std::vector<Rerun> reruns;
  for (NodeId id : all_ids<NodeId>(runs.size())) {
    if (runs[id] < 2) continue;
    Rerun rerun{.node = id, .times = runs[id] - 1, .bytes = {}, .picoseconds = 0};
    for (const std::optional<TensorId>& output : graph.node(id).outputs) {
      if (output) rerun.bytes += graph.tensor(*output).size;
    }
    const std::int64_t each = estimated_picoseconds(graph, id, kernels[id]);
    rerun.picoseconds =
        each > cost_model::kMostPicoseconds / rerun.times ? cost_model::kMostPicoseconds : each * rerun.times;
    reruns.push_back(rerun);
  }
  return reruns;
}

std::vector<Swap> swaps_of(const Plan& plan, const Graph& graph, const ChosenKernels& kernels) {
  const PlanClock clock = clock_of(graph, plan, kernels);
  std::vector<Swap> swaps;
  std::map<BufferId, std::size_t> outside;  // by buffer: its place in the list
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    const Step& step = plan.program.steps[id];
    const std::optional<LinkId>& link = plan.program.streams[step.stream].link;
    if (!link) continue;
    const bool is_out = is_outside(plan.machine, plan.machine.links[*link].to);
    const ValueId away = is_out ? step.writes[0] : step.reads[0];
    if (is_out) {
      outside[plan.layout.values[away].buffer] = swaps.size();
      const TensorId tensor = plan.program.values[away].tensor;
      swaps.push_back({.tensor = tensor, .bytes = graph.tensor(tensor).size, .out = id, .returns = {}});
    } else {
      swaps[outside.at(plan.layout.values[away].buffer)].returns.push_back(id);
    }
    swaps[outside.at(plan.layout.values[away].buffer)].picoseconds += clock.ends[id] - clock.begins[id];
  }
  return swaps;
}

}  // namespace lowtide::pipeline_internal
