// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/schedule/orders/order_problem.h"

namespace lowtide::schedule_internal {

// The same problem with fewer nodes. A node `a` that only `b` waits for, and that leaves at least as many bytes as
// anybody could miss if it ran later, may as well run right before `b`: until then every step has no more to bear. The
// two become one node of several steps. The same read backwards: what only waits for one, and leaves no more bytes than
// it found, runs right after that. What remains to be seen is the load of `a` itself at its new place:
//
//   - it is never above that of a step of `b`: nothing is lost, the best order is as good as before;
//   - it may be, by at most `tolerance`: its steps get counts = false. So the new problem is easier than the old one,
//     and a lower bound of it holds for both; an order of it has a peak in the old one that must be measured.
//
// Numbers of nodes stay topological; steps keep their origin, and each step of the old problem is in the new one once.
// O(rounds x (nodes + edges + touched values)) with few rounds; the looks are counted, and where 500 per entry of the
// problem are used up nothing more is joined.
[[nodiscard]] OrderProblem contracted(const OrderProblem& problem, std::int64_t tolerance);

// Every step counts.
[[nodiscard]] OrderProblem all_counted(OrderProblem problem);

}  // namespace lowtide::schedule_internal
