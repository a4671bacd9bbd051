// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lowtide/base/bytes.h"
#include "lowtide/pipeline/place/assemble.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/pipeline/task/task.h"
#include "lowtide/plan/plan.h"
#include "lowtide/schedule/schedule.h"

namespace lowtide::pipeline_internal {

// What a plan for several streams is made from: what the plan on one stream was made from, and its schedule.
struct ParallelizeInput : PlanParts {
  const Task& task;
  const Schedule& sequential;
  const AliasOptions& aliases;
};

// A complete plan, its bytes and its time, and by how much it overflowed the last region before that was relaxed.
struct ParallelPlan {
  Plan plan;
  TradeOff trade_off;
  Bytes overflow;
};

// Completes a plan with the claims of the plan on one stream, except its load and the strategy that gave its offsets.
[[nodiscard]] Plan complete_parallel_plan(const Task& task, const Claims& sequential, Plan draft, Bytes load,
                                          std::string allocate);

[[nodiscard]] std::int64_t count_waits(const Program& program);

}  // namespace lowtide::pipeline_internal
