// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/analysis/weights.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/plan_options.h"
#include "lowtide/plan/machine.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"
#include "lowtide/target/target.h"

namespace lowtide::pipeline_internal {

// One graph to plan: the model's, or the body of a node. The graph, the target and the options must outlive the task.
struct Task {
  const Graph& graph;
  const Target& target;
  const PlanOptions& options;
  AliasOptions aliases;
  Machine machine;                                   // for the arenas; of a body, one region without a limit
  std::optional<Bytes> arena_budget = std::nullopt;  // what the budget leaves for the arenas; nullopt for a body
  std::optional<Weights> weights = std::nullopt;     // of the graph and its bodies; nullopt for a body
  int depth = 0;                                     // 0: the model's graph; 1: the body of a node in it, and so on

  [[nodiscard]] bool is_body() const { return depth > 0; }
};

// Refuses targets that cannot run a graph.
[[nodiscard]] Result<void> check_target(const Target& target);

// Refuses options and targets that plan_graph refuses.
[[nodiscard]] Result<void> check_options(const Target& target, const PlanOptions& options);

// The model's graph. Its capacities are what the weights and a budget leave for the arenas (capacity.h).
[[nodiscard]] Task model_task(const Graph& graph, const Target& target, const PlanOptions& options);

// A body owns its inputs, except the captured ones, so they are placed in its arena. That arena is scratch of a node
// and may lie in any region, so the body uses the coarsest alignment.
[[nodiscard]] Task body_task(const Task& outer, const Graph& body);

// Whether the options ask for more than a sequence. False for a body, and for a graph without nodes.
[[nodiscard]] bool asks_for_parallel(const Task& task);

[[nodiscard]] ScheduleOptions schedule_options(const Task& task);

}  // namespace lowtide::pipeline_internal
