// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/schedule/orders/order_problem.h"

namespace lowtide::schedule_internal {

// The same problem with fewer nodes. Suppose that only node `b` waits for node `a`, and that `a` leaves at least as
// many bytes as could die with it. Then `a` may as well run right before `b`, because no step before that has a higher
// load. The two become one node of several steps. With all edges turned: a node that waits for only one node, and
// leaves no more bytes than it found, runs right after that one. The load of `a` at its new place decides the rest:
//
//   - It is never above the load of a step of `b`. Then the best order is as good as before.
//   - It may be above, by at most `tolerance`. Then the steps of `a` get counts = false. The new problem is easier than
//     the old one, so its lower bounds hold for both. The peak of its orders must be measured in the old problem.
//
// Node numbers stay topological. Steps keep their origin, and each step of the old problem is in the new one once.
// O(rounds x (nodes + edges + touched values)) with few rounds. Looks are counted: after 500 per entry of the problem,
// no more nodes are joined.
[[nodiscard]] OrderProblem contracted(const OrderProblem& problem, std::int64_t tolerance);

// The same problem, in which every step counts.
[[nodiscard]] OrderProblem all_counted(OrderProblem problem);

}  // namespace lowtide::schedule_internal
