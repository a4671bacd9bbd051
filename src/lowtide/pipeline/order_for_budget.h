// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/order_graph.h"
#include "lowtide/target/target.h"

namespace lowtide::pipeline_internal {

// A load within 1 / kNearShare of its bound is good enough where nodes may run again.
inline constexpr std::int64_t kNearShare = 1000;

struct BudgetOrderOptions {
  OrderOptions order;
  Bytes budget;
  std::int64_t effort = 0;  // of the search for reruns
};

// The order from which a search for reruns begins. How much it is searched depends on what it decides:
//
//   budget                        search
//   below the bound               about a second at most: some nodes must run again, whatever the order is
//   from the bound to the load    then as long as the search for reruns: an order within the budget needs no reruns
//   above the load                ends as soon as an order is within the budget
//
// The first search is the same for every effort above 0. So a larger effort begins from the same order, or from one
// that is within the budget. Errors: those of order_graph.
[[nodiscard]] Result<OrderedGraph> order_for_budget(const Graph& graph, const Target& target,
                                                    const BudgetOrderOptions& options);

}  // namespace lowtide::pipeline_internal
