// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/schedule/orders/order_problem.h"

namespace lowtide::schedule_internal {

struct CutBound {
  std::int64_t bound = 0;
  std::int64_t work = 0;  // arcs looked at and made; about 1 ns each
};

// A lower bound of the peak of all orders. While a node runs, the nodes that have run are a downset. It contains all
// that must run before the node, and nothing that must run after it. The bound of the node is the least number of live
// bytes of all such downsets, and the result is the largest bound of a node:
//
//   a -> c -> e     While b runs, a has run or not, and c too. Each of these downsets has a different number of live
//   b -> d -> e     bytes. The least of them is needed in every order.
//
// The least number is a minimum cut between what has run and what has not. A value is cut if some of the nodes that
// touch it have run and others have not (Lawler, "Cutsets and partitions of hypergraphs", 1973). The maximum flow is
// found by Dinic's algorithm.
//
// A node whose load in the order by index is at most the bound so far cannot raise the bound, and is skipped.
// Returns at least `bound`. Stops when `work` is spent, with the bound so far.
[[nodiscard]] CutBound cut_bound(const OrderProblem& problem, std::int64_t bound, std::int64_t work);

}  // namespace lowtide::schedule_internal
