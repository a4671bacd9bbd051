// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide::schedule_internal {

// Each gives a topological order of all nodes, the same on every machine. Those of others' systems are here by name, so
// that users can compare. O((nodes + edges) log nodes) each.
[[nodiscard]] std::vector<NodeId> as_given(const Graph& graph);

// Depth-first post-order from the outputs, then from what nothing reads; inputs in the order of the node. Iterative.
// Good where branches are long and their ends small; poor where a late branch needs what an early one made.
// (XLA's post-order, ONNX Runtime's reversed depth-first walk.)
[[nodiscard]] std::vector<NodeId> depth_first(const Graph& graph);

// The same, but of the inputs of a node the one with the longest path behind it comes first (Caffe2's order by longest
// paths): what is quickly made is made late.
[[nodiscard]] std::vector<NodeId> longest_path(const Graph& graph);

// The same, but inputs behind which there are more readers come first, then those behind which there are more bytes
// (XLA's depth-first scheduler).
[[nodiscard]] std::vector<NodeId> depth_first_by_fan_out(const Graph& graph);

// Depth-first from the sources along the readers, the last to be finished first (Relay's, TFLite's and most compilers').
[[nodiscard]] std::vector<NodeId> reverse_post_order(const Graph& graph);

// By distance from the sources (Kahn's generations; Inductor's breadth-first order).
[[nodiscard]] std::vector<NodeId> breadth_first(const Graph& graph);

// List scheduling: of the ready nodes, the one whose outputs minus the inputs that die with it are smallest; then the
// one that reads what was written last; then the lowest id. Sizes by groups of whole views (a Reshape adds nothing).
// Looks one step ahead only: it may enter a branch whose second node is huge. (XLA's list scheduler.)
[[nodiscard]] std::vector<NodeId> greedy_by_freed_bytes(const Graph& graph);

// List scheduling: of the ready nodes that do not raise the peak so far, the one that adds the fewest bytes; if all
// raise it, the one that raises it least (Inductor's least-peak-first order).
[[nodiscard]] std::vector<NodeId> least_peak_first(const Graph& graph);

// Nodes that must run before a node: producers of what it reads in the order in which it reads, then those it waits for.
// May repeat a node.
[[nodiscard]] std::vector<NodeId> nodes_before(const Graph& graph, NodeId id);

}  // namespace lowtide::schedule_internal
