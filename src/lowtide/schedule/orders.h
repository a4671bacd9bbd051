// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide::detail {

// Each gives a topological order of all nodes, the same on every machine.
[[nodiscard]] std::vector<NodeId> as_given(const Graph& graph);

// Depth-first post-order from the outputs, then from what nothing reads; inputs in the order of the node. Iterative.
// Good where branches are long and their ends small; poor where a late branch needs what an early one made.
[[nodiscard]] std::vector<NodeId> depth_first(const Graph& graph);

// List scheduling: of the ready nodes, the one whose outputs minus the inputs that die with it are smallest; then the
// one that reads what was written last; then the lowest id. Sizes by groups of whole views (a Reshape adds nothing).
// Looks one step ahead only: it may enter a branch whose second node is huge. O((nodes + edges) log nodes).
[[nodiscard]] std::vector<NodeId> greedy_by_freed_bytes(const Graph& graph);

}  // namespace lowtide::detail
