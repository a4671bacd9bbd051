// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/lower_for_machine.h"

#include <algorithm>
#include <utility>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide {
namespace {

// As for the plan of the model as written, which a summary compares with (cli/lowering.cc).
constexpr std::int64_t kMostOrderEffort = 50'000'000;
constexpr std::int64_t kMostAllocateEffort = 10'000'000;

Result<PlannedGraph> plan_quickly(const Graph& graph, const FormatChoice& choice) {
  Result<Target> target = cpu_target();
  if (!target) return target.error();
  PlanOptions options{.budget = choice.budget,
                      .order_effort = kMostOrderEffort,
                      .allocate_effort = kMostAllocateEffort,
                      .stop = choice.stop};
  options.skip = {PlanStage::check_bound, PlanStage::verify};
  return plan_graph(graph, *target, options);
}

}  // namespace

Result<Lowered> lower_for_machine(const Graph& model, const LowerOptions& options, const FormatChoice& choice) {
  Result<Lowered> with = lower(model, options);
  if (!with || !choice.budget || std::ranges::count(with->passes, kFormatsPass) == 0) return with;
  const Result<PlannedGraph> plan_with = plan_quickly(with->graph, choice);
  if (!plan_with) return plan_with.error();
  if (plan_with->fits()) return with;

  LowerOptions others = options;
  others.formats = false;
  Result<Lowered> without = lower(model, others);
  if (!without) return without;
  const Result<PlannedGraph> plan_without = plan_quickly(without->graph, choice);
  if (!plan_without) return plan_without.error();
  return arena_bytes(plan_with->plan) <= arena_bytes(plan_without->plan) ? std::move(with) : std::move(without);
}

}  // namespace lowtide
