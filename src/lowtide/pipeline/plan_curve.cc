// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/plan_curve.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/int128.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/try.h"
#include "lowtide/pipeline/plan_again.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/pipeline/plan_purpose.h"
#include "lowtide/pipeline/sequence/known_sequences.h"
#include "lowtide/target/kernel_times.h"

namespace lowtide {
namespace {

// The least RAM that the bound for all plans leaves possible.
Bytes floor_of(const PlannedGraph& planned) {
  const Bound* bound = best_bound(planned.plan.claims, BoundScope::all_plans);
  return planned.caller + (bound == nullptr ? Bytes(0) : bound->bytes);
}

BudgetPoint point_of(PlannedGraph planned, Bytes budget) {
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
  point.plan = std::make_shared<const PlannedGraph>(std::move(planned));
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

// What is known about the plans of one graph.
struct Side {
  CurveGraph graph;
  pipeline_internal::KnownSequences sequences = {};
  Bytes floor;
  PlanEstimate estimate;   // of a plan without a limit
  std::int64_t bound = 0;  // of plans for the budgets so far; 0: not known
  BudgetOutcome outcome = BudgetOutcome::found;
};

class CurveSearch {
 public:
  CurveSearch(std::span<const CurveGraph> graphs, const Target& target, const PlanCurveOptions& options)
      : target_(target), options_(options.plan), on_point_(options.on_point) {
    for (const CurveGraph& graph : graphs) sides_.push_back({.graph = graph});
  }

  Result<PlanCurve> run(std::int64_t points) && {
    if (on_point_) on_point_(0);
    LOWTIDE_TRY(PlannedGraph plain, plan(sides_.front(), std::nullopt));
    note(sides_.front(), plain);
    LOWTIDE_RETURN_IF_ERROR(plan_others_quickly());
    PlanCurve curve{.points = {},
                    .estimate = plain.estimate,
                    .provenance = plain.plan.provenance,
                    .has_graphs = sides_.size() > 1,
                    .floor = floor(),
                    .knee = {}};
    leaves_out_graphs_ = !has_comparable_times();
    if (leaves_out_graphs_) sides_.erase(sides_.begin() + 1, sides_.end());
    const Bytes most = arena_bytes(plain.plan) + plain.caller;
    const std::int64_t width = std::max<std::int64_t>((most - curve.floor).count(), 0);
    LOWTIDE_TRY(BudgetPoint first, first_point(std::move(plain), most));
    curve.points.push_back(std::move(first));
    for (std::int64_t at = 1; at < points; ++at) {
      // Without the overflow of width * at.
      const std::int64_t drop = width / (points - 1) * at + width % (points - 1) * at / (points - 1);
      const Bytes budget = most - Bytes(drop);
      if (budget >= curve.points.back().budget || budget == Bytes(0)) continue;
      if (on_point_) on_point_(at);
      LOWTIDE_TRY(BudgetPoint point, best_for(budget));
      curve.points.push_back(std::move(point));
    }
    share_plans(curve.points);
    curve.knee = knee_of(curve.points);
    return curve;
  }

 private:
  [[nodiscard]] bool is_stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  // The plan without a limit, stated as one for the bytes that it takes. Several regions may divide them otherwise.
  Result<BudgetPoint> first_point(PlannedGraph plain, Bytes most) {
    if (most.count() > limits::kMaxArenaBytes) return point_of(std::move(plain), most);
    LOWTIDE_TRY(PlannedGraph limited, plan(sides_.front(), most));
    return point_of(limited.fits() ? std::move(limited) : std::move(plain), most);
  }

  // `budget`: nullopt for the begin of the curve.
  Result<PlannedGraph> plan(Side& side, std::optional<Bytes> budget) const {
    PlanOptions options = options_for(budget ? PlanPurpose::curve_point : PlanPurpose::curve_start, options_);
    options.budget = budget;
    options.hints = side.graph.hints;
    options.lowering = side.graph.lowering;
    Result<PlannedGraph> planned = pipeline_internal::plan_again(*side.graph.graph, target_, options, &side.sequences);
    LOWTIDE_CHECK(!planned || planned->violations.empty(), "a plan that was just made is correct");
    return planned;
  }

  // The other graphs have a plan of little effort, which states the floor and how fast they are.
  Result<void> plan_others_quickly() {
    PlanOptions quick = options_for(PlanPurpose::curve_graph, options_);
    for (Side& side : std::span(sides_).subspan(1)) {
      quick.lowering = side.graph.lowering;
      LOWTIDE_TRY(const PlannedGraph planned, plan_graph(*side.graph.graph, target_, quick));
      note(side, planned);
    }
    return {};
  }

  // Measured times of one graph say nothing beside estimates of another.
  [[nodiscard]] bool has_comparable_times() const {
    const auto has_times = [](const Side& side) { return side.estimate.measured > 0; };
    const auto has_all = [](const Side& side) { return side.estimate.is_mostly_measured(); };
    return std::ranges::none_of(sides_, has_times) || std::ranges::all_of(sides_, has_all);
  }

  static void note(Side& side, const PlannedGraph& planned) {
    side.floor = floor_of(planned);
    side.estimate = planned.estimate;
  }

  [[nodiscard]] Bytes floor() const {
    Bytes least = sides_.front().floor;
    for (const Side& side : sides_) least = std::min(least, side.floor);
    return least;
  }

  static bool is_faster(std::int64_t picoseconds, const BudgetPoint& than) {
    return static_cast<double>(picoseconds) < (1 - kLeastGain) * static_cast<double>(than.picoseconds);
  }

  Result<BudgetPoint> best_for(Bytes budget) {
    BudgetPoint best{.budget = budget};
    for (std::size_t at = 0; at < sides_.size() && !is_stopped(); ++at) {
      Side& side = sides_[at];
      const bool is_hopeless =
          side.outcome == BudgetOutcome::infeasible || (at > 0 && side.outcome == BudgetOutcome::not_found);
      const bool is_found = best.outcome == BudgetOutcome::found;
      if (is_hopeless || (is_found && !is_faster(side.estimate.picoseconds, best))) continue;
      LOWTIDE_TRY(PlannedGraph planned, plan(side, budget));
      BudgetPoint point = point_of(std::move(planned), budget);
      side.outcome = point.outcome;
      side.bound = std::max(side.bound, point.bound_picoseconds);
      if (point.outcome != BudgetOutcome::found || (is_found && !is_faster(point.picoseconds, best))) continue;
      best = std::move(point);
      best.graph = at;
    }
    judge(best);
    return best;
  }

  // What holds for the plans of all graphs. Nothing is known about those that are left out.
  void judge(BudgetPoint& point) const {
    if (leaves_out_graphs_) {
      point.bound_picoseconds = 0;
      return;
    }
    std::optional<std::int64_t> bound;
    for (const Side& side : sides_) {
      if (side.outcome == BudgetOutcome::infeasible) continue;
      bound = std::min(bound.value_or(side.bound), side.bound);
    }
    if (bound) {
      point.bound_picoseconds = *bound;
    } else {
      point.outcome = BudgetOutcome::infeasible;
      for (const Side& side : sides_) {
        point.bound_picoseconds = std::max(point.bound_picoseconds, side.bound);
      }
    }
  }

  const Target& target_;
  const PlanOptions& options_;
  const std::function<void(std::int64_t at)>& on_point_;
  std::vector<Side> sides_;
  bool leaves_out_graphs_ = false;  // only the first graph has plans
};

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

Result<PlanCurve> plan_curve(std::span<const CurveGraph> graphs, const Target& target, PlanCurveOptions options) {
  LOWTIDE_CHECK(options.points >= 2 && !graphs.empty(), "a curve has two ends, and a graph");
  options.plan.budget = std::nullopt;
  options.plan.hints = {};
  return CurveSearch(graphs, target, options).run(options.points);
}

}  // namespace lowtide
