// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
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

// The order that a search begins from, in which each node runs once and nothing is moved, and its peak. Where it breaks
// a rule of the problem, runs move.
struct SwapStart {
  const std::vector<NodeId>& order;
  Bytes load;
};

// Whether the clock can count one run of each node and one copy of each value that begins outside, and further ones
// that groups need: each kind takes at most kMaxTime. O(nodes + groups).
[[nodiscard]] bool has_countable_time(const BudgetProblem& problem, const TransferLink& link);

// Looks for a fast sequence of runs, transfers and fetches that keeps the budget, and for a bound of its time. `verify`
// has checked the sequence, its clock, and every proof. Returns nullopt if groups repeat nodes, and no sequence is
// known that has all their runs. Requires: has_countable_time, and what `offload` requires.
[[nodiscard]] std::optional<SwapAnswer> search_swaps(const BudgetProblem& problem, const TransferLink& link,
                                                     const SwapStart& start, const SwapSearchOptions& options);

}  // namespace lowtide::pipeline_internal
