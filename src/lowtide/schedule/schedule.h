// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide {

// An order of all nodes and what it costs.
struct Schedule {
  std::vector<NodeId> order;  // topological
  std::string strategy;       // the one that found it
  Bytes load;                 // peak of live bytes, alias classes and scratch included
  AliasClasses aliases;       // for this order
};

// What is scheduled. The members must outlive every use.
struct ScheduleInput {
  const Graph& graph;
  const ChosenKernels& kernels;  // as planned
  // The same kernels with the scratch that they need in every plan, for bounds. A body may need less scratch than its
  // plan has. Equal to `kernels` if no node has bodies.
  const ChosenKernels& least_kernels;
};

struct ScheduleOptions {
  std::string order = "auto";  // "auto" tries all strategies and keeps the lowest load; otherwise the name of one
  AliasOptions aliases;        // how the load of an order is counted
  Bytes bound;                 // a proven lower bound: no more orders are tried once one meets it; 0 if none is known
  // Work units of the search: nodes, values and words that it examines, about 1 ns each. The tables of the search take
  // up to 256 MiB, and above the default effort one byte per 32 units. 0: no search; order "search" then only joins
  // nodes that lose nothing by running one right after another.
  std::int64_t effort = 5'000'000'000;
  // The search stops at an order that is good enough: its load is at most `enough`, or above the bound by at most this
  // load divided by `near_share`. 0: only an order that meets the bound is good enough.
  Bytes enough = {};
  std::int64_t near_share = 0;
};

// The best of the orders that were measured.
struct OrderChoice {
  Schedule best;
  // Each strategy and its load, in the order in which they were tried.
  std::vector<std::pair<std::string, Bytes>> tried;
  // The other measured orders, the lowest load first; empty in graphs of more than 20,000 nodes. Allocation may suit
  // one of them better.
  std::vector<Schedule> runners_up;
  Bytes bound;  // no order has a lower load: the given bound, or a higher one
  // What raised the bound: "search", or "cut" for minimum cuts. Empty: it is the given bound.
  std::string_view bound_name;
  // Sets of nodes that the search looked at. 0 if there was no search, or if minimum cuts gave a higher bound.
  std::int64_t searched_sets = 0;
  // The search examined all orders, so a longer search finds nothing better. The bound may still be below the best
  // load, because the search may assume that tensors share more bytes than a plan can.
  bool is_search_complete = false;
};

// Names that ScheduleOptions::order accepts besides "auto", in the order in which they are tried:
//   as_given                the order of the graph
//   depth_first             post-order from the outputs: a branch ends before the next one begins
//   greedy_by_freed_bytes   of the ready nodes, the one that adds the fewest bytes (or frees the most)
//   reverse_post_order      depth-first from the sources; the last node to finish comes first
//   breadth_first           by distance from the sources
//   deepest_input_first     depth_first; of the inputs of a node, the one with the longest path before it comes first
//   depth_first_by_fan_out  depth_first; of the inputs of a node, the one with most readers and bytes before it first
//   least_peak_first        of the nodes that do not raise the peak so far, the one that adds the fewest bytes
//   longest_path            depth-first from the sources, those with long paths first (Caffe2); not tried by "auto"
//   search                  searches all orders; exact if the effort suffices
// and, for comparison, the best of three strategies that a compiler chooses from:
//   best_of_xla             depth_first, greedy_by_freed_bytes, depth_first_by_fan_out
//   best_of_inductor        depth_first, breadth_first, least_peak_first
[[nodiscard]] const std::vector<std::string>& schedule_strategies();

// Measures the orders of all heuristics that `options.order` allows, and keeps the one with the lowest load; among
// equals the first in the list above. If `options.order` is "search", the best is the order as given. With a bound,
// orders that do not meet it are also measured without parts, results in place and views, in graphs of at most 20,000
// nodes. The reason is that the rules that choose aliases are heuristics, too.
// `as_given`: the order of the graph, if it was measured before.
// Errors (invalid): an unknown strategy. O((nodes + edges) log nodes).
[[nodiscard]] Result<OrderChoice> try_heuristics(const ScheduleInput& input, const ScheduleOptions& options,
                                                 std::optional<Schedule> as_given = std::nullopt);

// Searches all orders for one with a lower load than `known.best`, unless `options.order` excludes the search, the best
// meets the bound, or `options.effort` is 0. The first problem that is searched bounds every choice of aliases. If its
// order shares less than that problem assumes, two more are searched, in which slices, splits and concats share
// everything or nothing. In large graphs with many small values, easier problems come before them, in which these
// values count nothing. Takes options.effort, and at most an eighth more for the easier problems.
// If the best order does not meet the bound, searches with some smaller efforts follow: 2^27, powers of 2 up to 2^24,
// and the default times powers of 8. Graphs of more than 2,000 nodes skip those below 16 per node. So a larger effort
// never gives a higher load than one of these. Up to the default, this takes at most 4 % more work; above, it may take
// twice as much. If the best order still does not meet the bound, minimum cuts may raise the bound, for at most a
// sixteenth more work. They change no order.
[[nodiscard]] OrderChoice search_orders(const ScheduleInput& input, const ScheduleOptions& options, OrderChoice known);

// Calls try_heuristics and then search_orders.
[[nodiscard]] Result<OrderChoice> schedule(const Graph& graph, const ChosenKernels& kernels,
                                           const ScheduleOptions& options = {});

}  // namespace lowtide
