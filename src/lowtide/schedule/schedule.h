// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lowtide/analysis/alias_classes.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

struct ScheduleOptions {
  std::string order = "auto";  // "auto" tries all and keeps the lowest load; or the name of one strategy
  AliasOptions aliases;        // how the load of an order is counted
  Bytes bound;                 // a proven lower bound: no further order is tried once it is met; 0 if none is known
  const struct Schedule* start = nullptr;  // one that was measured before with the same options: not tried again
};

// An order of all nodes, topological, and what it costs.
struct Schedule {
  std::vector<NodeId> order;
  std::string strategy;
  Bytes load;                                        // largest load, alias classes and scratch counted
  AliasClasses aliases;                              // for this order
  std::vector<std::pair<std::string, Bytes>> tried;  // every strategy tried and its load, in the order tried
};

// Names that ScheduleOptions::order understands besides "auto", in the order they are tried:
//   as_given               the order of the graph
//   depth_first            post-order from the outputs: a branch is finished before the next one begins
//   greedy_by_freed_bytes  of the nodes that are ready, the one that adds the fewest bytes (or frees the most)
[[nodiscard]] const std::vector<std::string>& schedule_strategies();

// Chooses the order of the nodes that gives the lowest load; among equals the first in the list above, so the order as
// given unless another is better. Errors (invalid): a strategy of another name. O((nodes + edges) log nodes).
[[nodiscard]] Result<Schedule> schedule(const Graph& graph, const ChosenKernels& kernels,
                                        const ScheduleOptions& options = {});

}  // namespace lowtide
