// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/schedule/orders/order_problem.h"

namespace lowtide::schedule_internal {

// Returns the same problem with fewer nodes. Suppose that only node `b` waits for node `a`, and that running `a` never
// lowers the live bytes. Then `a` can move to the position right before `b`, and no step between its old and its new
// position gets a higher load. If the load of `a` itself permits, the two become one node of several steps:
//
//   - The load of `a` right before `b` is never above the largest load of `b`. The best peak stays the same.
//   - It may be above that, by at most `tolerance`. The steps of `a` get counts = false. The new problem is a
//     relaxation, so its lower bounds hold for the old problem, too. The peak of an order must be measured in the old
//     problem.
//   - It may be above by more than that. The nodes are not joined.
//
// The mirror image is used as well. If a node waits for only one node, and running it never raises the live bytes, it
// can move to the position right after that node.
//
// Node numbers stay topological. Steps keep their origin. Each step of the old problem appears in the new one once.
// O(rounds x (nodes + edges + touched values)) with few rounds. The work is limited to 500 visits per node, edge and
// touched value of the problem. After that, no more nodes are joined.
[[nodiscard]] OrderProblem contracted(const OrderProblem& problem, std::int64_t tolerance);

// Returns the same problem with counts = true for every step.
[[nodiscard]] OrderProblem all_counted(OrderProblem problem);

}  // namespace lowtide::schedule_internal
