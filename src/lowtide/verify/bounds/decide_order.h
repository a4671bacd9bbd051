// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/verify/bounds/order_count.h"
#include "lowtide/verify/check_bound.h"

namespace lowtide::verify_internal {

// Whether every order of a count has a load above `most`.
struct OrderDecision {
  OrderBoundVerdict verdict = OrderBoundVerdict::undecided;  // confirmed: every order has one
  std::vector<NodeId> order;                                 // of a refuted claim: an order within `most`
  std::int64_t sets = 0;                                     // sets of nodes that the walks found
};

// Joins nodes into chains (joined_chains) and divides the chains where every order has run the same ones (cuts_of).
// Walks over each subproblem from either end (downset_walk.h), in turns whose effort doubles. The claim is confirmed if
// one subproblem has no order within `most`, and refuted if all have one. `effort`: nodes and pieces looked at, about 1
// ns each. The sets of all walks together take at most 256 MiB.
[[nodiscard]] OrderDecision decide_order(const OrderCount& count, std::int64_t most, std::int64_t effort);

}  // namespace lowtide::verify_internal
