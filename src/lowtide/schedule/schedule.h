// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide {

struct ScheduleOptions {
  std::string order = "auto";  // "auto" tries all and keeps the lowest load; or the name of one strategy
  AliasOptions aliases;        // how the load of an order is counted
  Bytes bound;                 // a proven lower bound: no further order is tried once it is met; 0 if none is known
  // What kernels take in every plan, where the bodies of a node may need less than was found for them; null: the same.
  const ChosenKernels* least = nullptr;
  // For the search: nodes, values and words looked at, about 1 ns each. Its tables take up to 256 MiB, and where the
  // effort is above the default a byte per 32 units.
  std::int64_t effort = 5'000'000'000;
  const struct Schedule* start = nullptr;  // one that was measured before with the same options: not tried again
};

// An order of all nodes, topological, and what it costs.
struct Schedule {
  std::vector<NodeId> order;
  std::string strategy;
  Bytes load;                                        // largest load, alias classes and scratch counted
  AliasClasses aliases;                              // for this order
  std::vector<std::pair<std::string, Bytes>> tried;  // every strategy tried and its load, in the order tried
  Bytes bound;                     // no order has a lower load: as given, or what the search has shown
  bool is_bound_searched = false;  // the search has shown more than was given
  // Of graphs of at most 20,000 nodes: the other orders that were measured, the lowest load first. Offsets may suit one of
  // them better.
  std::vector<Schedule> rivals = {};
  std::int64_t searched_sets = 0;  // of nodes that can have run: how many the search looked at; 0: none was needed
};

// Names that ScheduleOptions::order understands besides "auto", in the order they are tried:
//   as_given               the order of the graph
//   depth_first            post-order from the outputs: a branch is finished before the next one begins
//   greedy_by_freed_bytes  of the nodes that are ready, the one that adds the fewest bytes (or frees the most)
//   reverse_post_order     depth-first from the sources, the last to be finished first
//   breadth_first          by distance from the sources
//   longest_path           depth_first; of the inputs of a node, the one with the longest path behind it first
//   depth_first_by_fan_out  depth_first; of the inputs of a node, the one with the most readers and bytes behind it first
//   least_peak_first       of the nodes that do not raise the peak so far, the one that adds the fewest bytes
//   search                 among all orders, exact where the effort allows (order_search.h): on the problem that bounds all
//                          choices of aliases, and on those where slices, splits and concats share everything or
//                          nothing; tried only where the others do not meet the bound
// and, for comparison, the best of three as two compilers choose:
//   best_of_xla            depth_first, greedy_by_freed_bytes, depth_first_by_fan_out
//   best_of_inductor       depth_first, breadth_first, least_peak_first
[[nodiscard]] const std::vector<std::string>& schedule_strategies();

// With a bound, orders that do not meet it are measured without parts, in-place results or views too, in graphs of at
// most 20,000 nodes: the rules that give an order its aliases are no search.
//
// Chooses the order of the nodes that gives the lowest load; among equals the first in the list above, so the order as
// given unless another is better. Errors (invalid): a strategy of another name. O((nodes + edges) log nodes),
// and the effort of the search.
[[nodiscard]] Result<Schedule> schedule(const Graph& graph, const ChosenKernels& kernels,
                                        const ScheduleOptions& options = {});

}  // namespace lowtide
