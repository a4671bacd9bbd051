// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/place/planned_bodies.h"

#include <algorithm>

namespace lowtide::pipeline_internal {

const PlannedBodies* bodies_of(const std::vector<PlannedBodies>& bodies, NodeId node) {
  const auto inside = std::lower_bound(bodies.begin(), bodies.end(), node,
                                       [](const PlannedBodies& one, NodeId wanted) { return one.node < wanted; });
  return inside != bodies.end() && inside->node == node ? &*inside : nullptr;
}

}  // namespace lowtide::pipeline_internal
