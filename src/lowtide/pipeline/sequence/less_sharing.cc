// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/sequence/less_sharing.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/pipeline/sequence/sequence.h"
#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/schedule/choose_order.h"

namespace lowtide::pipeline_internal {
namespace {

constexpr std::int64_t kSearchShare = 10;

bool has_partial_views(const Graph& graph) {
  return std::any_of(graph.operators().begin(), graph.operators().end(),
                     [](const Operator& op) { return is_partial_view(op.traits.view); });
}

std::pair<Bytes, Bytes> rank(const PlacedSchedule& one) { return {overflow(one.plan), arena_bytes(one.plan)}; }

// Whether no smaller plan is needed.
bool is_settled(const PlacedSchedule& known, Bytes bound) {
  if (arena_bytes(known.plan) <= bound) return true;
  return writable_regions(known.plan.machine, kWorker).size() > 1 && overflow(known.plan) == Bytes(0);
}

// Returns the better of `known` and a plan under `task.aliases`.
Result<PlacedSchedule> better_of(const Task& task, const KernelChoice& choice, PlacedSchedule known) {
  const ChosenKernels kernels = permitted(choice.kernels.planned, task.aliases);
  const ScheduleInput input{task.graph, kernels, kernels};
  ScheduleOptions options = schedule_options(task);
  options.effort /= kSearchShare;
  LOWTIDE_TRY(ChosenOrder chosen, choose_order(input, options));
  ChosenOrder order = std::move(chosen);
  const Bytes most = arena_bytes(known.plan);
  if (order.bound.bytes >= most) return known;
  const std::vector<PlanStage>& skip = task.options.skip;
  const bool searches = std::find(skip.begin(), skip.end(), PlanStage::search) == skip.end();
  if (searches) order = search_for_order(input, options, std::move(order));
  if (order.choice.best.load >= most) return known;

  const PlanParts parts{task.graph, kernels, choice.bodies, task.machine};
  const PlaceInput placing = place_input(task, parts);
  Result<PlacedSchedule> placed = place_schedule(placing, order.choice.best);
  if (!placed) return placed.error();
  placed = refine_placement(placing, *std::move(placed), std::move(order.choice.runners_up));
  return placed && rank(*placed) >= rank(known) ? std::move(known) : placed;
}

}  // namespace

Result<PlacedSchedule> with_less_sharing(const Task& task, const KernelChoice& choice, Bytes bound,
                                         PlacedSchedule known) {
  if (task.graph.nodes().size() > kMostNodesOfLessSharing || !has_partial_views(task.graph)) return known;
  Result<PlacedSchedule> best = std::move(known);
  for (bool AliasOptions::*kind : {&AliasOptions::parts, &AliasOptions::views, &AliasOptions::in_place}) {
    const bool is_stopped = task.options.stop != nullptr && task.options.stop->load();
    if (!best || is_stopped || is_settled(*best, bound)) return best;
    if (!(task.aliases.*kind)) continue;
    Task less = task;
    less.aliases.*kind = false;
    best = better_of(less, choice, *std::move(best));
  }
  return best;
}

}  // namespace lowtide::pipeline_internal
