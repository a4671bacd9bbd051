// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/schedule/orders/order_problem.h"

namespace lowtide::schedule_internal {

struct FoundOrder {
  std::vector<OrderProblem::Index> order;  // the best found; the given one (by index) if none is better
  std::int64_t peak = 0;                   // of it
  std::int64_t bound = 0;                  // no order has a lower peak, or none is below the limit that was asked for
  std::int64_t sets = 0;                   // of nodes that were looked at
  std::int64_t work = 0;                   // spent
  bool is_final = false;                   // more work would find the same
};

struct OrderSearchOptions {
  std::int64_t bound = 0;             // known before
  std::int64_t limit = INT64_MAX;     // orders whose peak is not below are of no use
  std::int64_t work = 1'000'000'000;  // nodes, values and words looked at; about 1 ns each
  // For the sets that are known at one time; where they are used up, a search ends as if its work were spent.
  std::int64_t bytes = 256LL << 20;
};

// The order with the lowest peak that the work finds, and a bound of all orders. Nodes that may as well run one right
// after the other are joined (order_contraction.h), and the problem is divided where every order has run the same nodes
// (parts_of). Each part, the smallest first, is searched from below, forwards and backwards by turns
// (downset_search.h): an easier problem, in which small values are overlooked, then the part itself. Where that does
// not end it is searched from above: any order within a level that lies between the bound and the best so far, again
// and again. Deterministic.
class OrderSearch {
 public:
  // Requires: nodes have one step each.
  explicit OrderSearch(const OrderProblem& problem);

  // Each run starts from the beginning.
  [[nodiscard]] FoundOrder run(const OrderSearchOptions& options = {}) const;

 private:
  std::int64_t base_;
  std::vector<OrderPart> parts_;
};

// The same for a single run.
[[nodiscard]] FoundOrder search_order(const OrderProblem& problem, const OrderSearchOptions& options = {});

}  // namespace lowtide::schedule_internal
