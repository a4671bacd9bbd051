// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide::kernels_internal {

// How a node of a tree compares a feature with its value. The numbers are those of the attribute `nodes_modes` of
// TreeEnsemble.
enum class Comparison : std::uint8_t { at_most, below, at_least, above, equal, not_equal, member };

// A node of a tree, which goes on to one of two nodes or is a leaf.
struct TreeNode {
  bool is_leaf = false;
  Comparison comparison = Comparison::at_most;
  bool is_true_for_nan = false;  // nodes_missing_value_tracks_true
  double value = 0;
  std::int64_t feature = 0;  // >= 0
  std::int64_t on_true = 0;  // < nodes.size()
  std::int64_t on_false = 0;
  // A range of `members`, for Comparison::member, or of `weights`, for a leaf.
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// What a leaf adds to a score.
struct LeafWeight {
  std::int64_t target = 0;  // in [0, targets)
  double weight = 0;
};

// The trees of a node TreeEnsemble, TreeEnsembleClassifier or TreeEnsembleRegressor. No path has a cycle, so each ends
// at a leaf. Two paths may meet.
struct TreeNodes {
  std::vector<TreeNode> nodes;
  std::vector<std::int64_t> roots;  // in the order in which their weights are added
  std::vector<double> members;      // ascending for each node
  std::vector<LeafWeight> weights;
  std::int64_t targets = 0;        // or classes
  std::int64_t most_feature = -1;  // the largest one that a branch compares
};

// Reads the attributes. Errors (invalid): lists of different lengths; a node that is missing, appears twice or is
// reached from itself; a target or a feature out of range; (unsupported) a tensor that is not in the model file.
// O(nodes x log nodes).
[[nodiscard]] Result<TreeNodes> read_tree_nodes(const Graph& graph, NodeId node);

}  // namespace lowtide::kernels_internal
