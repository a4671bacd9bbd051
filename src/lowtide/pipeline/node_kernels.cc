// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/node_kernels.h"

#include <algorithm>

#include "lowtide/pipeline/choose_kernels.h"

namespace lowtide::pipeline_internal {
namespace {

// The bytes that the bodies of a node need in every plan of the scope. Bodies may share bytes, so only the largest
// bound of a body counts.
Bytes proven_bytes(const PlannedBodies& bodies, BoundScope scope) {
  Bytes most;
  for (const auto& plan : bodies.plans) {
    if (const Bound* bound = best_bound(plan->claims, scope)) most = std::max(most, bound->bytes);
  }
  return most;
}

}  // namespace

NodeKernels choose_node_kernels(const Task& task, const std::vector<PlannedBodies>& bodies) {
  NodeKernels kernels{choose_kernels(task.graph, task.target, task.aliases), std::nullopt, std::nullopt};
  const std::vector<NodeId> views = views_with_scratch(task.graph, kernels.planned);
  if (bodies.empty() && views.empty()) return kernels;
  const auto least = [&](BoundScope scope) {
    ChosenKernels proven = kernels.planned;
    for (const PlannedBodies& inside : bodies) proven[inside.node].scratch += proven_bytes(inside, scope);
    for (NodeId id : views) proven[id].scratch = Bytes(0);
    return proven;
  };
  kernels.least_run_once = least(BoundScope::run_once);
  kernels.least_all_plans = least(BoundScope::all_plans);
  for (const PlannedBodies& inside : bodies) kernels.planned[inside.node].scratch += inside.bytes;
  return kernels;
}

}  // namespace lowtide::pipeline_internal
