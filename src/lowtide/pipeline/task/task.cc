// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/task/task.h"

#include <algorithm>
#include <string>

#include "lowtide/base/limits.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/pipeline/task/target_kernels.h"
#include "lowtide/pipeline/task/worker.h"

namespace lowtide::pipeline_internal {
namespace {

// The parts of a buffer lie one right after another. That is possible only in regions that are no coarser than the
// first.
AliasOptions alias_options(const Target& target, const PlanOptions& options, bool is_body) {
  const Alignments all = alignments_of(target);
  return {.alignment = is_body ? all.most : all.first,
          .views = options.views,
          .in_place = options.in_place,
          .parts = options.parts && (is_body || all.most == all.first),
          .inputs_live_throughout = is_body,
          .finest_alignment = all.least};
}

Machine body_machine(const Machine& machine, Bytes alignment) {
  const RegionId first = writable_regions(machine, kWorker).front();
  const Worker& worker = machine.workers[kWorker];
  return {.regions = {{.name = machine.regions[first.index()].name, .alignment = alignment}},
          .links = {},
          .workers = {{.name = worker.name, .count = worker.count}}};
}

}  // namespace

Result<void> check_target(const Target& target) {
  const Machine& machine = target.machine;
  if (machine.regions.empty() || machine.workers.empty() || target.catalogue == nullptr) {
    return Error{ErrorCode::invalid, "a target needs at least one region, one worker and a catalogue", ""};
  }
  if (writable_regions(machine, kWorker).empty()) {
    return Error{ErrorCode::invalid, "the first worker of a target needs a region that it can address and write", ""};
  }
  const std::optional<RegionId>& constants = machine.constants;
  if (constants &&
      (constants->index() >= machine.regions.size() || !can_address(machine.workers[kWorker], *constants))) {
    return Error{ErrorCode::invalid,
                 "constants are in region " + std::to_string(constants->value()) +
                     ", which does not exist or which the first worker cannot address",
                 ""};
  }
  return {};
}

Result<void> check_options(const Target& target, const PlanOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(check_target(target));
  if (options.streams < 1 || options.streams > limits::kMaxStreams) {
    return Error{ErrorCode::invalid,
                 "a plan has 1 to " + std::to_string(limits::kMaxStreams) + " streams (kMaxStreams), not " +
                     std::to_string(options.streams),
                 ""};
  }
  if (options.budget && options.budget->count() > limits::kMaxArenaBytes) {
    return Error{ErrorCode::invalid,
                 "a budget of " + std::to_string(options.budget->count()) + " bytes is above the limit of " +
                     std::to_string(limits::kMaxArenaBytes) + " (kMaxArenaBytes); omit the budget for no limit",
                 ""};
  }
  for (PlanStage stage : options.skip) {
    if (is_optional(stage)) continue;
    return Error{
        ErrorCode::invalid,
        "stage " + quoted(to_string(stage)) +
            " cannot be skipped, because every plan needs it; these can be: " + listed(optional_plan_stages(), "and"),
        ""};
  }
  if (options.order == "search" &&
      std::find(options.skip.begin(), options.skip.end(), PlanStage::search) != options.skip.end()) {
    return Error{ErrorCode::invalid, "order 'search' needs the stage 'search', which is skipped; remove one of the two",
                 ""};
  }
  return {};
}

Task model_task(const Graph& graph, const Target& target, const PlanOptions& options) {
  const std::optional<Bytes> for_arenas = arena_budget(options.budget, caller_bytes(graph));
  const std::optional<Weights> weights = weights_of(graph, target.machine);
  return {.graph = graph,
          .target = target,
          .options = options,
          .aliases = alias_options(target, options, false),
          .machine = capped_machine(without_weights(target.machine, weights), for_arenas),
          .arena_budget = for_arenas,
          .weights = weights};
}

Task body_task(const Task& outer, const Graph& body) {
  const AliasOptions aliases = alias_options(outer.target, outer.options, true);
  return {.graph = body,
          .target = outer.target,
          .options = outer.options,
          .aliases = aliases,
          .machine = body_machine(outer.target.machine, aliases.alignment),
          .depth = outer.depth + 1};
}

bool asks_for_parallel(const Task& task) {
  const PlanOptions& options = task.options;
  if (task.is_body() || task.graph.nodes().empty()) return false;
  return options.run == ExecutionModel::dataflow || (options.run != ExecutionModel::sequence && options.streams > 1);
}

ScheduleOptions schedule_options(const Task& task) {
  return {.order = task.options.order, .aliases = task.aliases, .effort = task.options.order_effort};
}

}  // namespace lowtide::pipeline_internal
