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
#include "lowtide/target/target.h"

namespace lowtide {

struct OrderOptions {
  std::string order = "auto";  // a name of schedule_strategies(), or auto
  // The same as ScheduleOptions::effort, but the default is larger, because only the order is requested: up to about a
  // minute.
  std::int64_t effort = 30'000'000'000;
  // The same as ScheduleOptions::enough and near_share: which order needs no better one.
  Bytes enough = {};
  std::int64_t near_share = 0;
};

// An order, its peak and a bound for all orders.
struct OrderedGraph {
  std::vector<NodeId> order;
  std::string strategy;
  Bytes load_as_given;
  Bytes load;
  Bytes bound;  // no order has a lower load
  std::string bound_name;
  std::vector<std::pair<std::string, Bytes>> tried;  // strategies and their loads

  [[nodiscard]] bool is_optimal() const { return load == bound; }
};

// Orders a graph without bodies, as plan_graph does, but assigns no offsets. Errors (invalid): an unknown order, a node
// with bodies, a target without regions, workers or a catalogue. Near linear, except for the effort of the search.
[[nodiscard]] Result<OrderedGraph> order_graph(const Graph& graph, const Target& target,
                                               const OrderOptions& options = {});

}  // namespace lowtide
