// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"

namespace lowtide::detail {

// A cycle of nodes that wait for each other, each before the next and the last before the first; from its lowest id. Of
// all cycles through the first node that is found on one, a shortest.
// `edges`: (before, after), sorted. `waiting`: for each node the edges from others that wait; some node must wait.
// O(nodes + edges log edges).
[[nodiscard]] std::vector<NodeId> find_cycle(const std::vector<std::pair<NodeId, NodeId>>& edges,
                                             const IdVector<NodeId, std::uint32_t>& waiting);

// "'a' -> 'b' -> 'a'"; of a long cycle the first and the last.
[[nodiscard]] std::string cycle_text(const std::vector<NodeId>& cycle, const IdVector<NodeId, Node>& nodes);

}  // namespace lowtide::detail
