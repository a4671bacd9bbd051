// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/earlier/grappler/cluster.h"
#include "lowtide/earlier/grappler/run_costs.h"
#include "lowtide/plan/budget_problem.h"
#include "lowtide/plan/transfers.h"

namespace lowtide {

struct LeanGraphDefOptions {
  Cluster cluster;
  RunEnds ends;
  std::map<std::string, std::vector<std::int64_t>> shapes = {};  // of Placeholders, which stay open in the result
  std::optional<std::int64_t> effort = std::nullopt;  // work units of a search; absent: by the number of nodes
  // To the memory of the host. Outputs may leave the device over it, and come back. nanoseconds_per_cost is 1.
  std::optional<TransferLink> link = std::nullopt;
};

// An output that leaves the device.
struct LeanSwap {
  std::string node;  // its node in the result, "Recomputed/f0"
  Bytes bytes;
  std::int64_t returns = 0;  // how often it comes back
};

// What is known of the sequence that is written.
struct LeanAnswer {
  BudgetOutcome outcome = BudgetOutcome::found;  // with an unknown memory, `found`
  std::int64_t cost = 0;                         // nanoseconds of all runs, and of waiting for copies
  std::int64_t base_cost = 0;                    // of the nodes of the given graph, each once
  // No sequence of the given nodes within the memory takes less. If `tries_parts`, nor does one with all sums in parts,
  // in the two orders that are tried. `infeasible` has the same scope. 0 if some sizes are not known.
  std::int64_t cost_bound = 0;
  bool tries_parts = false;

  [[nodiscard]] bool is_optimal() const { return outcome == BudgetOutcome::found && cost == cost_bound; }
};

}  // namespace lowtide
