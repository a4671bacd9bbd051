// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/lower/lower.h"
#include "lowtide/pipeline/budget_request.h"
#include "lowtide/pipeline/plan_options.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/plan/hints.h"
#include "lowtide/target/target.h"

namespace lowtide::cli_internal {

// Refuses options that --curve and --budget auto cannot have beside them.
void check_curve_options(const Arguments& arguments, const BudgetRequest& budget, const PlanOptions& options);

// Refuses both, and hints, for a range of --dim.
void refuse_curve_of_range(const Arguments& arguments, const BudgetRequest& budget);

// What the curve is about.
struct CurveRequest {
  const Arguments& arguments;
  const ModelRequest& model;
  const LoadedModel& loaded;
  const Target& target;
  const PlanOptions& options;
  const std::vector<HintRequest>& hints;
};

// Runs `plan --curve`.
[[nodiscard]] ExitCode show_plan_curve(const CurveRequest& request, const OutputFiles& files, Console& console);

// The budget for which the plan at the knee of the curve was made, that plan, and its graph if it is not the one that
// was loaded. Stops if no plan was found.
struct AutomaticBudget {
  Bytes budget;
  std::shared_ptr<const PlannedGraph> plan;
  std::optional<Lowered> other;
};
[[nodiscard]] AutomaticBudget automatic_budget(const CurveRequest& request, Console& console);

}  // namespace lowtide::cli_internal
