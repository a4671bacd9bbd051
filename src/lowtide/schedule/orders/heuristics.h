// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide::schedule_internal {

// Each function returns a topological order of all nodes, the same on every machine. Some are rules of other systems,
// for comparison. O((nodes + edges) log nodes) each.
[[nodiscard]] std::vector<NodeId> as_given(const Graph& graph);

// Depth-first post-order from the outputs, then from the nodes that are left. Inputs come in the order of the node.
// Good if branches are long and their results small; poor if a late branch needs a result of an early one.
// (XLA's post-order, ONNX Runtime's reversed depth-first walk.)
[[nodiscard]] std::vector<NodeId> depth_first(const Graph& graph);

// The same, but of the inputs of a node, the one with the longest path before it comes first. Results that need few
// nodes are computed late.
[[nodiscard]] std::vector<NodeId> deepest_input_first(const Graph& graph);

// Depth-first from the sources along the readers, as reverse_post_order, but with the sources sorted: the longest paths
// from the sources to the end form a tree, whose leaves are taken from low subtrees to high ones. What is visited first
// runs last, so sources with long paths run first. (Caffe2's topological_sort_traversal_longest_path, with networkx 1.)
// Searches from all sources together look at 50 million edges at most; for larger graphs, other longest paths of the
// same lengths are taken.
[[nodiscard]] std::vector<NodeId> longest_path(const Graph& graph);

// The same, but inputs with more readers before them come first, then those with more bytes before them
// (XLA's depth-first scheduler).
[[nodiscard]] std::vector<NodeId> depth_first_by_fan_out(const Graph& graph);

// Depth-first from the sources along the readers; the last node to finish comes first (Relay, TFLite and most
// compilers).
[[nodiscard]] std::vector<NodeId> reverse_post_order(const Graph& graph);

// By distance from the sources (Kahn's generations; Inductor's breadth-first order).
[[nodiscard]] std::vector<NodeId> breadth_first(const Graph& graph);

// List scheduling: takes the ready node that adds the fewest bytes: its outputs minus the inputs that die with it. A
// tie goes to the node that reads what was written last, then to the lowest id. Whole views share bytes, so a Reshape
// adds nothing. Looks one step ahead only: it may enter a branch whose second node is huge. (XLA's list scheduler.)
[[nodiscard]] std::vector<NodeId> greedy_by_freed_bytes(const Graph& graph);

// List scheduling: of the ready nodes that do not raise the peak so far, takes the one that adds the fewest bytes. If
// all raise it, takes the one that raises it least. (Inductor's least-peak-first order.)
[[nodiscard]] std::vector<NodeId> least_peak_first(const Graph& graph);

// Nodes that must run before a node: producers of what it reads, in that order, then its control inputs. A node may
// appear several times.
[[nodiscard]] std::vector<NodeId> nodes_before(const Graph& graph, NodeId id);

}  // namespace lowtide::schedule_internal
