// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "lowtide/pipeline/assemble.h"
#include "lowtide/pipeline/task.h"

namespace lowtide::pipeline_internal {

// What nodes need as planned, and what they need in every plan of a scope, which bounds count. The two differ in
// scratch. A node with bodies needs the arenas that were found, and at least the proven bound. A view needs the scratch
// of a kernel that copies, and at least 0.
struct NodeKernels {
  ChosenKernels planned;
  // nullopt: the same as planned
  std::optional<ChosenKernels> least_run_once;
  std::optional<ChosenKernels> least_all_plans;

  [[nodiscard]] const ChosenKernels& least(BoundScope scope) const {
    const std::optional<ChosenKernels>& proven = scope == BoundScope::run_once ? least_run_once : least_all_plans;
    return proven ? *proven : planned;
  }
};

// Chooses a kernel for each node, and adds the arenas of bodies to its scratch. O(nodes) and the catalogue's time.
[[nodiscard]] NodeKernels choose_node_kernels(const Task& task, const std::vector<PlannedBodies>& bodies);

}  // namespace lowtide::pipeline_internal
