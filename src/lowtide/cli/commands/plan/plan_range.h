// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lowtide/adapt/size_choice.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/pipeline/plan_options.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/target/target.h"

namespace lowtide::cli_internal {

// A wrong plan is a bug in the planner. Nothing of it is shown or written, so this stops the command.
void check_verified(const PlannedGraph& planned);

// The work of `plan` with several sizes, such as --dim batch=1..8.
struct RangeRequest {
  ModelRequest model;  // without the sizes that differ
  Target target;
  PlanOptions options;
  std::optional<std::string> plan_file;
};

// Plans the model once per choice, and writes one file with all plans. Prints a row per plan, and the arena that holds
// any of them. Returns ExitCode::no if a plan does not fit.
[[nodiscard]] ExitCode plan_range(const Arguments& arguments, const RangeRequest& request,
                                  const std::vector<SizeChoice>& choices, const OutputFiles& files, Console& console);

}  // namespace lowtide::cli_internal
