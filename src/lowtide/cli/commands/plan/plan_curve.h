// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/pipeline/plan_options.h"
#include "lowtide/plan/hints.h"
#include "lowtide/target/target.h"

namespace lowtide::cli_internal {

// Refuses options that --curve, --points and --budget auto cannot have beside them.
void check_curve_options(const Arguments& arguments, const PlanOptions& options);

// Refuses the same options, and hints, for a range of --dim.
void refuse_curve_of_range(const Arguments& arguments);

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

// The budget for which the plan at the knee of the curve was made, and whether it is of another graph than that of the
// model that was loaded, which --budget chooses. Stops if no plan was found.
struct AutomaticBudget {
  Bytes budget;
  bool is_of_other_graph = false;
};
[[nodiscard]] AutomaticBudget automatic_budget(const CurveRequest& request, Console& console);

}  // namespace lowtide::cli_internal
