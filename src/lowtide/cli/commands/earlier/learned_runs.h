// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/plan/plan.h"
#include "lowtide/report/learned_runs.h"
#include "lowtide/target/target.h"

namespace lowtide::cli_internal {

// The first run of 'compare --then'.
struct FirstRun {
  const ModelRequest& request;
  const LoadedModel& loaded;
  const Plan& plan;
  std::vector<NodeId> order;  // for Static Runtime
};

// The alignment of all planners of 'compare': that of the first region that Lowtide's plan can write.
[[nodiscard]] Bytes first_alignment(const Machine& machine);

// The graph that the baselines see: that of a NetDef as it is, and otherwise the one that is planned.
[[nodiscard]] const Graph& baseline_graph(const LoadedModel& loaded);

// Reads the sizes of --then, plans the model for each of them, and replays Static Runtime's runs. nullopt without
// --then. Stops with exit code 2 for --then in another form and for --manage-outputs without it, and with exit code 3
// if the model has another graph for some of these sizes.
[[nodiscard]] std::optional<LearnedRuns> compare_runs(const Arguments& arguments, const FirstRun& first,
                                                      const Target& target);

[[nodiscard]] Json json_of(const LearnedRuns& learned);

}  // namespace lowtide::cli_internal
