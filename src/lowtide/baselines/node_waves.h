// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide::baselines_internal {

// Nodes that run at once; a barrier follows.
using Wave = std::vector<NodeId>;

// A node is in the first wave after those that it depends on; within a wave as in `order`. `sources`: of each node of the
// order, by position, those that it depends on, all of them earlier. O(nodes + edges).
[[nodiscard]] std::vector<Wave> earliest_waves(const std::vector<NodeId>& order,
                                               const std::vector<std::vector<std::uint32_t>>& sources);

// Waves of at most so many nodes, in the same order: {1 2 3} {4 5} by 2 is {1 2} {3} {4 5}. Require: most > 0.
[[nodiscard]] std::vector<Wave> split_waves(const std::vector<Wave>& waves, std::size_t most);

}  // namespace lowtide::baselines_internal
