// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide::baselines_internal {

// Nodes that run at the same time. A barrier follows.
using Wave = std::vector<NodeId>;

// Puts each node into the first wave after the nodes that it depends on. Within a wave, nodes are in the order of
// `order`. `sources` has, for each position of the order, the positions that it depends on, all of them earlier.
// O(nodes + edges).
[[nodiscard]] std::vector<Wave> earliest_waves(const std::vector<NodeId>& order,
                                               const std::vector<std::vector<std::uint32_t>>& sources);

// Splits waves into waves of at most `most` nodes and keeps the order: {1 2 3} {4 5} with 2 becomes {1 2} {3} {4 5}.
// Requires: most > 0.
[[nodiscard]] std::vector<Wave> split_waves(const std::vector<Wave>& waves, std::size_t most);

}  // namespace lowtide::baselines_internal
