// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/plan_estimate.h"
#include "lowtide/pipeline/plan_options.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/plan/budget_problem.h"
#include "lowtide/plan/hints.h"
#include "lowtide/plan/plan.h"
#include "lowtide/target/target.h"

namespace lowtide {

// What one budget costs.
struct BudgetPoint {
  Bytes budget;
  BudgetOutcome outcome = BudgetOutcome::not_found;
  // If the outcome is `found`:
  Bytes planned_for;             // the budget for which the plan was made: this one or a smaller one
  Bytes ram;                     // of the plan, with what the caller holds
  std::int64_t picoseconds = 0;  // estimated
  std::int64_t reruns = 0;
  std::size_t graph = 0;                     // index of the graph that the plan is of
  std::shared_ptr<const PlannedGraph> plan;  // complete and verified, with planned_for as its budget
  // No plan on one stream that keeps the budget takes less, of whichever graph. It is also known if no plan was found.
  std::int64_t bound_picoseconds = 0;

  [[nodiscard]] bool is_proven_fastest() const {
    return outcome == BudgetOutcome::found && picoseconds == bound_picoseconds;
  }
};

// From the budget of the plan without a limit down to a budget below which nothing fits. Less memory never takes less
// time, and no bound falls.
struct PlanCurve {
  std::vector<BudgetPoint> points;  // descending budgets
  PlanEstimate estimate;            // of the plan without a limit
  Provenance provenance;            // of this plan
  bool has_graphs = false;          // the floor is that of several graphs, and bounds and proofs are about all of them
  Bytes floor;                      // no plan keeps less: the bound for all plans, and what the caller holds
  std::optional<std::size_t> knee;  // index of the point where memory and time are balanced (knee_of)
};

// A graph that may run for a model, such as one with other formats (engine/lower_for_machine.h).
struct CurveGraph {
  const Graph* graph = nullptr;
  std::vector<NodeHint> hints = {};        // PlanOptions::hints
  std::vector<std::string> lowering = {};  // PlanOptions::lowering
};

struct PlanCurveOptions {
  PlanOptions plan;          // of each plan; the members `budget`, `hints` and `lowering` have no effect
  std::int64_t points = 10;  // budgets, at least 2
  // Called before the plan of each point is made, if present, with its position from 0. Positions may be left out,
  // because budgets that are equal are one point.
  std::function<void(std::int64_t at)> on_point = {};
};

// Plans for budgets in equal steps, from that of the first graph without a limit to the smallest floor of all graphs.
// The graphs are those of one model, the preferred one first: at each budget, a later one must be faster by kLeastGain.
// If only some of them have measured costs (PlanEstimate::is_mostly_measured), only the first one has points, without
// bounds and proofs, which would be about all graphs.
// One that had no plan for some budget is not tried for a smaller one, except the first. A plan for a smaller budget
// replaces a slower one for a larger budget, of whichever graph. Once the plans are stopped, the points that are left
// have the outcome not_found. Errors: those of plan_graph. Requires: graphs.
// Effort: orders are searched once for each graph and choice of kernels. Each point and graph then costs what its
// reruns do, with an effort from plan_purpose.h.
[[nodiscard]] Result<PlanCurve> plan_curve(std::span<const CurveGraph> graphs, const Target& target,
                                           PlanCurveOptions options);

// The index of the point with the least sum of memory and time, each as a share of its range over all points that were
// found: (ram - least) / (most - least) + (time - least) / (most - least). This is the point farthest below the line
// between the ends of the curve (Satopaa et al., "Finding a Kneedle in a Haystack", ICDCSW 2011, without smoothing). A
// range of zero counts nothing. Of equals, the largest budget. nullopt if no point was found.
[[nodiscard]] std::optional<std::size_t> knee_of(const std::vector<BudgetPoint>& points);

}  // namespace lowtide
