// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/schedule/orders/order_problem.h"

namespace lowtide::schedule_internal {

struct FoundOrder {
  std::vector<OrderProblem::Index> order;  // the best that was found; the given one (by index) if none is better
  std::int64_t peak = 0;                   // of it
  std::int64_t bound = 0;                  // no order has a lower peak, or none is below the requested limit
  std::int64_t sets = 0;                   // sets of nodes that were looked at
  std::int64_t work = 0;                   // spent
  bool is_final = false;                   // more work would find the same
};

struct OrderSearchOptions {
  std::int64_t bound = 0;             // a known lower bound
  std::int64_t limit = INT64_MAX;     // only orders with a lower peak are of use
  std::int64_t work = 1'000'000'000;  // nodes, values and words looked at; about 1 ns each
  // Memory for the sets that are known at one time. If it is used up, a search ends as if its work were spent.
  std::int64_t bytes = 256LL << 20;
};

// Finds the order with the lowest peak that the work allows, and a bound for all orders. Nodes that lose nothing by
// running one right after another are joined (order_contraction.h), and the problem is divided at separators
// (subproblems_of). The smallest subproblem comes first. Each one is searched from below, forwards and backwards in
// alternation (downset_search.h): first an easier problem, in which small loads are ignored, then the subproblem
// itself. If that does not end, it is searched from above: repeatedly, for any order within a level between the bound
// and the best so far. Deterministic.
class OrderSearch {
 public:
  // Requires: nodes have one step each.
  explicit OrderSearch(const OrderProblem& problem);

  // Each run starts from the beginning.
  [[nodiscard]] FoundOrder run(const OrderSearchOptions& options = {}) const;

  // Raises a lower bound by minimum cuts (cut_bound.h), with at most about `work`.
  [[nodiscard]] std::int64_t raised_by_cuts(std::int64_t bound, std::int64_t work) const;

 private:
  std::int64_t base_;
  std::vector<OrderSubproblem> subproblems_;
};

// Makes an OrderSearch and runs it once.
[[nodiscard]] FoundOrder search_order(const OrderProblem& problem, const OrderSearchOptions& options = {});

}  // namespace lowtide::schedule_internal
