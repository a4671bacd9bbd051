// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

#include "lowtide/cli/model/model.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/plan/labels.h"
#include "lowtide/target/target.h"

namespace lowtide::cli_internal {

struct PlanOutput {
  const Target& target;
  std::size_t top;  // rows of each table
};

// The output of `plan --json`, except for hints, quantized operators, lowering and seconds.
[[nodiscard]] Json json_of_plan(const LoadedModel& loaded, const PlannedGraph& planned, const Labels& labels,
                                const PlanOutput& output);

}  // namespace lowtide::cli_internal
