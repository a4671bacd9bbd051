// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

struct NodeTime {
  double start_ms = 0;
  double end_ms = 0;
  std::uint32_t order = 0;
  friend bool operator==(const NodeTime&, const NodeTime&) = default;
};

// What AITemplate derives from a profile before it plans streams.
struct ProfiledTimes {
  // One node after another, in the given order. `order` counts from 1.
  IdVector<NodeId, NodeTime> one_stream;
  // Each node starts when its inputs are there. `order` is its wave, counted from 0.
  IdVector<NodeId, NodeTime> all_streams;

  // Percentiles of all times of the profile, including those of nodes that the graph does not have. 0 if the profile is
  // empty. The percentile q of n sorted times is that with index n x q, rounded down.
  double percentile_70_ms = 0;
  double percentile_90_ms = 0;
  double percentile_95_ms = 0;
  double longest_ms = 0;
  double total_ms = 0;
};

// AITemplate, track_graph_timings: when each node starts and ends on one stream, and on as many as it can use.
// `profile` has the milliseconds of each node by its name. A node without a name, or without an entry, takes 0.
// O((nodes + edges) log). Requires: the order is topological and has all nodes.
// Errors: invalid, for a time that is negative or not finite.
[[nodiscard]] Result<ProfiledTimes> profile_times(const Graph& graph, const std::vector<NodeId>& order,
                                                  const std::map<std::string, double>& profile);

}  // namespace lowtide
