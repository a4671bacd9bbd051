// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/runtime/executable.h"
#include "lowtide/runtime/run_place.h"
#include "lowtide/runtime/session.h"

namespace lowtide {

// When a step ran. Steps of a body are within the time of the step that runs it, and have one entry per iteration.
struct StepTime {
  RunPlace place;
  int thread = 0;             // threads are numbered in the order in which they first ran a step
  std::int64_t begin_ns = 0;  // since the run began
  std::int64_t end_ns = 0;
};

// Does what Session::run() does, and appends a time for each step that succeeded, in the order in which they ended.
// Steps without work, such as aliases, have none. Allocates memory, and measures itself: about 100 ns per step.
RunResult run_with_times(Session& session, std::vector<StepTime>& times);

// What a step does, for reports.
struct StepInfo {
  std::string path;  // "" for a step of the model, "loop/body/" for one of a body
  std::string node;  // node_name(); "" for a copy
  std::string op;    // full_name(Operator), or "copy"
};
[[nodiscard]] StepInfo step_info(const Executable& executable, const RunPlace& place);

// What a step computes. The graph and the name belong to the executable.
struct StepWork {
  const Graph* graph = nullptr;  // of the model, or of one of its bodies
  NodeId node;
  std::string_view kernel;  // Plan::kernels
};
// Returns nullopt for aliases and copies.
[[nodiscard]] std::optional<StepWork> step_work(const Executable& executable, const RunPlace& place);
// Every step of the plans of the model and of its bodies. O(steps).
[[nodiscard]] std::vector<RunPlace> all_steps(const Executable& executable);

}  // namespace lowtide
