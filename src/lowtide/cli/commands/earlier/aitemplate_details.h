// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/output/json_value.h"
#include "lowtide/earlier/baselines/aitemplate_times.h"
#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/report/styled_text.h"

// What 'compare' takes and shows of AITemplate, and of one planner in detail.
namespace lowtide::cli_internal {

// Sets --nodes-at-once and --streams. Stops with exit code 2 for numbers below 1.
void read_multistream(const Arguments& arguments, BaselineOptions& options);

// When nodes start and end by the times of --times FILE; nullopt without the option. The file has an object of
// milliseconds by the names of nodes, or is what 'bench --json' printed. Stops with exit code 3 if it is neither.
[[nodiscard]] std::optional<ProfiledTimes> read_profiled_times(const Arguments& arguments, const Graph& graph,
                                                               const std::vector<NodeId>& order);
[[nodiscard]] Json json_of_times(const Graph& graph, const std::vector<NodeId>& order, const ProfiledTimes& times);
[[nodiscard]] StyledText text_of_times(const Graph& graph, const ProfiledTimes& times);

// Where a planner places each tensor and constant.
[[nodiscard]] Json json_of_places(const Graph& graph, const BaselineOutcome& outcome);

}  // namespace lowtide::cli_internal
