// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"

namespace lowtide::graph_internal {

// Finds a cycle: each node of the result comes before the next, and the last before the first. The result begins with
// its lowest id. It is a shortest cycle through some node that lies on a cycle.
//
// `edges` are pairs (before, after), sorted. `waiting` has, for each node, the number of edges from nodes that were
// not sorted. Requires: some node has such an edge. O(nodes + edges log edges).
[[nodiscard]] std::vector<NodeId> find_cycle(const std::vector<std::pair<NodeId, NodeId>>& edges,
                                             const IdVector<NodeId, std::uint32_t>& waiting);

// "'a' -> 'b' -> 'a'". A long cycle shows only its first nodes and its last one.
[[nodiscard]] std::string cycle_text(const std::vector<NodeId>& cycle, const IdVector<NodeId, Node>& nodes);

}  // namespace lowtide::graph_internal
