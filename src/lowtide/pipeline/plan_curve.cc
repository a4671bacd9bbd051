// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/plan_curve.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/int128.h"
#include "lowtide/target/cost.h"

namespace lowtide {
namespace {

// The least RAM that the bound for all plans leaves possible.
Bytes floor_of(const PlannedGraph& planned) {
  const Bound* bound = best_bound(planned.plan.claims, BoundScope::all_plans);
  return planned.caller + (bound == nullptr ? Bytes(0) : bound->bytes);
}

BudgetPoint point_of(const PlannedGraph& planned, Bytes budget) {
  BudgetPoint point{.budget = budget};
  const std::optional<Recomputation>& found = planned.recomputation;
  if (found) point.bound_picoseconds = found->bound_picoseconds;
  if (!planned.fits()) {
    if (found) point.outcome = found->outcome;
    return point;
  }
  point.outcome = BudgetOutcome::found;
  point.planned_for = budget;
  point.ram = arena_bytes(planned.plan) + planned.caller;
  point.picoseconds = planned.estimate.picoseconds;
  if (found) {
    for (const Rerun& rerun : found->reruns) point.reruns += rerun.times;
  }
  return point;
}

// Plans go from smaller to larger budgets, and bounds and proofs from larger to smaller ones.
void share_plans(std::vector<BudgetPoint>& points) {
  for (std::size_t at = 1; at < points.size(); ++at) {
    const BudgetPoint& larger = points[at - 1];
    BudgetPoint& here = points[at];
    here.bound_picoseconds = std::max(here.bound_picoseconds, larger.bound_picoseconds);
    if (larger.outcome == BudgetOutcome::infeasible) here.outcome = BudgetOutcome::infeasible;
  }
  for (std::size_t at = points.size(); at-- > 1;) {
    const BudgetPoint& smaller = points[at];
    BudgetPoint& here = points[at - 1];
    if (smaller.outcome != BudgetOutcome::found) continue;
    if (here.outcome == BudgetOutcome::found && here.picoseconds <= smaller.picoseconds) continue;
    const Bytes budget = here.budget;
    const std::int64_t bound = here.bound_picoseconds;
    here = smaller;
    here.budget = budget;
    here.bound_picoseconds = bound;
  }
}

}  // namespace

std::optional<std::size_t> knee_of(const std::vector<BudgetPoint>& points) {
  std::optional<BudgetPoint> least;
  std::optional<BudgetPoint> most;
  for (const BudgetPoint& point : points) {
    if (point.outcome != BudgetOutcome::found) continue;
    if (!least) least = most = point;
    least->ram = std::min(least->ram, point.ram);
    least->picoseconds = std::min(least->picoseconds, point.picoseconds);
    most->ram = std::max(most->ram, point.ram);
    most->picoseconds = std::max(most->picoseconds, point.picoseconds);
  }
  if (!least) return std::nullopt;
  const Int128 bytes = std::max<std::int64_t>((most->ram - least->ram).count(), 1);
  const Int128 time = std::max<std::int64_t>(most->picoseconds - least->picoseconds, 1);
  std::optional<std::size_t> knee;
  Int128 best = 0;
  for (std::size_t at = 0; at < points.size(); ++at) {
    const BudgetPoint& point = points[at];
    if (point.outcome != BudgetOutcome::found) continue;
    const Int128 sum = (point.ram - least->ram).count() * time + (point.picoseconds - least->picoseconds) * bytes;
    if (knee && sum >= best) continue;
    knee = at;
    best = sum;
  }
  return knee;
}

Result<PlanCurve> plan_curve(const Graph& graph, const Target& target, PlanOptions options, std::int64_t points) {
  LOWTIDE_CHECK(points >= 2, "a curve has two ends");
  options.budget = std::nullopt;
  Result<PlannedGraph> plain = plan_graph(graph, target, options);
  if (!plain) return plain.error();
  PlanCurve curve{.points = {},
                  .base_picoseconds = plain->estimate.picoseconds,
                  .estimate = plain->estimate,
                  .floor = floor_of(*plain),
                  .knee = {}};
  const Bytes most = arena_bytes(plain->plan) + plain->caller;
  const std::int64_t width = std::max<std::int64_t>((most - curve.floor).count(), 0);
  std::optional<Result<PlannedGraph>> next = std::move(plain);  // for the largest budget
  for (std::int64_t at = 0; at < points; ++at) {
    // Without the overflow of width * at.
    const std::int64_t drop = width / (points - 1) * at + width % (points - 1) * at / (points - 1);
    const Bytes budget = most - Bytes(drop);
    if (!curve.points.empty() && (budget >= curve.points.back().budget || budget == Bytes(0))) continue;
    if (options.stop != nullptr && options.stop->load()) {
      curve.points.push_back({.budget = budget});
      continue;
    }
    options.budget = std::max(budget, Bytes(1));
    if (!next) next = plan_graph(graph, target, options);
    const Result<PlannedGraph> planned = *std::exchange(next, std::nullopt);
    if (!planned) return planned.error();
    LOWTIDE_CHECK(planned->violations.empty(), "a plan that was just made is correct");
    curve.points.push_back(point_of(*planned, budget));
  }
  share_plans(curve.points);
  curve.knee = knee_of(curve.points);
  return curve;
}

}  // namespace lowtide
