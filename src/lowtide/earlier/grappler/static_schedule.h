// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/earlier/grappler/cluster.h"
#include "lowtide/earlier/grappler/typed_graph.h"

namespace lowtide::grappler_internal {

// When each node could end, in nanoseconds, if every device ran any number of nodes at once. A node takes at least 1 ns
// and waits for all inputs, a Merge for one. nullopt: none of its inputs is ever ready. Grappler's
// EstimateEarliestExecutionTimes. Requires: the cluster has a device. O(nodes + inputs).
[[nodiscard]] std::vector<std::optional<std::int64_t>> earliest_ends(const TypedGraph& graph, const Cluster& cluster);

// When each node must end, so that the nodes without readers end at the times that are given. Grappler's
// EstimateRequiredTimes. Requires: one time for each node. O(nodes + inputs).
[[nodiscard]] std::vector<std::int64_t> required_ends(const TypedGraph& graph, const Cluster& cluster,
                                                      const std::vector<std::int64_t>& ends);

}  // namespace lowtide::grappler_internal
