// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/verify/check_bound.h"

namespace lowtide::pipeline_internal {

// Plans of a node's bodies, in the order of Node::bodies. Nodes without bodies have no entry.
struct PlannedBodies {
  NodeId node;
  std::vector<std::shared_ptr<const Plan>> plans;
  std::vector<Offset> offsets;                               // of each plan's arena in the scratch of the node
  Bytes bytes;                                               // of scratch that they need
  OrderBoundVerdict verdict = OrderBoundVerdict::confirmed;  // the worst one on their bounds
};

// The entry of a node; nullptr if it has none. O(log bodies).
[[nodiscard]] const PlannedBodies* bodies_of(const std::vector<PlannedBodies>& bodies, NodeId node);

}  // namespace lowtide::pipeline_internal
