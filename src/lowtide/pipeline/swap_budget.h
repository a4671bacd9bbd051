// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/order_graph.h"
#include "lowtide/plan/hints.h"
#include "lowtide/plan/transfers.h"
#include "lowtide/target/target.h"

namespace lowtide {

struct SwapOptions {
  OrderOptions order;  // of the search for an order without reruns
  Bytes budget;        // of the live outputs, without anything that is always live
  TransferLink link;
  // The same as OffloadOptions::effort, for all searches: up to about half a minute. More effort is never worse.
  std::int64_t effort = 20'000'000'000;
  const std::atomic<bool>* stop = nullptr;  // when set, ends the search with the best answer so far; nullptr: never
  std::function<void(const SwapAnswer&)> on_improvement = {};  // called for each better sequence and bound, if present
  std::vector<NodeHint> hints = {};                            // keep and swap: the node runs once
};

// A sequence of runs, transfers and fetches within a budget, and the order that it begins from.
struct SwappedBudget {
  OrderedGraph ordered;  // each node runs once, and nothing is moved
  BudgetProblem problem;
  TransferLink link;
  SwapAnswer answer;
};

// Does what keep_budget does, but outputs may also leave over the link and come back. The sequence is at least as fast
// as that of keep_budget with a 32nd of the effort. `verify` has checked the sequence, its clock and the proof of the
// bound. Errors: those of order_graph; over_limit if one run of each node takes more than kMaxTime. Requires: as
// keep_budget, and a link as in TransferLink.
[[nodiscard]] Result<SwappedBudget> swap_budget(const Graph& graph, const IdVector<NodeId, std::int64_t>& costs,
                                                const Target& target, const SwapOptions& options);

// The same for nodes with parts, updates and all else that a budget problem can state. `steps`: as for keep_budget.
// Errors: also unsupported, if a value that begins outside has parts or is in a group or an edge of `before`, if no
// sequence is known that has the runs of all groups, or if a hint is about a node that a group repeats.
[[nodiscard]] Result<SwappedBudget> swap_budget(const Graph& graph, const BudgetProblem& steps, const Target& target,
                                                const SwapOptions& options);

}  // namespace lowtide
