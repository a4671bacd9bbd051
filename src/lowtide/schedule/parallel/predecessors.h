// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"
#include "lowtide/schedule/schedule.h"

namespace lowtide::schedule_internal {

// For each node, the nodes that must have ended before it starts. These are the producers of what it reads, control
// inputs, and nodes that touched the bytes that it overwrites. Ascending by position in the sequential order, each node
// once.
// O((nodes + edges) log nodes), and writers x users of a class for results in place.
[[nodiscard]] IdVector<NodeId, std::vector<NodeId>> predecessors(const Graph& graph, const Schedule& sequential);

}  // namespace lowtide::schedule_internal
