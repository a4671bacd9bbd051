// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "lowtide/analysis/alias_classes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/verify/order_bound_check.h"

namespace lowtide::detail {

// Plans of a node's bodies, in the order of Node::bodies; sparse, most nodes have none.
struct PlannedBodies {
  NodeId node;
  std::vector<std::shared_ptr<const Plan>> plans;
  std::vector<Offset> offsets;                               // of each plan's arena in the scratch of the node
  Bytes room;                                                // they take together
  OrderBoundVerdict verdict = OrderBoundVerdict::confirmed;  // on their bounds: the worst
};

// A plan with everything but placements: program, values, and buffers whose sizes are whole multiples of the alignment.
[[nodiscard]] Plan assemble(const Graph& graph, const Schedule& schedule, const ChosenKernels& kernels,
                            const std::vector<PlannedBodies>& bodies, const AliasOptions& options);

// The buffers that take room in the arena, in ascending id. `aliases` are those the plan was assembled from: buffer i
// is class i, and scratch comes after them.
[[nodiscard]] std::vector<BufferId> buffers_with_room(const Plan& plan, const AliasClasses& aliases,
                                                      const AliasOptions& options);

}  // namespace lowtide::detail
