// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/plan/transfers.h"

namespace lowtide::pipeline_internal {

struct SwapSearchOptions {
  std::int64_t effort = 0;                  // as SwapOptions::effort
  const std::atomic<bool>* stop = nullptr;  // when set, ends the search with the best answer so far; nullptr: never
  std::function<void(const SwapAnswer&)> on_improvement = {};  // called for each better sequence and bound, if present
};

// The order that a search begins from, in which each node runs once and nothing is moved, and its peak.
struct SwapStart {
  const std::vector<NodeId>& order;
  Bytes load;
};

// Whether the link's clock can count one run of each node: it takes at most kMaxTime. O(nodes).
[[nodiscard]] bool has_countable_time(const BudgetProblem& problem, const TransferLink& link);

// Looks for a fast sequence of runs and transfers that keeps the budget, and for a bound of its time. `verify` has
// checked the sequence, its clock, and every proof. Requires: has_countable_time.
[[nodiscard]] SwapAnswer search_swaps(const BudgetProblem& problem, const TransferLink& link, const SwapStart& start,
                                      const SwapSearchOptions& options);

}  // namespace lowtide::pipeline_internal
