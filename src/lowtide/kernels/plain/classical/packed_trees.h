// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lowtide/kernels/plain/classical/tree_nodes.h"

namespace lowtide::kernels_internal {

// A node of a tree in the form that a run reads. A row goes to children[x <= value], where x is its feature. The
// children of a leaf are the leaf itself, so paths of different lengths can be followed side by side.
template <typename T>
struct PackedTreeNode {
  T value = 0;
  std::uint32_t feature = 0;  // kNanGoesRight is set if a NaN goes to children[1]
  std::array<std::int32_t, 2> children{};
};

inline constexpr std::uint32_t kNanGoesRight = std::uint32_t{1} << 31;

// The nodes of all trees, each behind those that lead to it, so that the first nodes of a tree are close together. T is
// the type in which features are compared and weights are added: f64 for operands of f64, otherwise f32.
template <typename T>
struct PackedTrees {
  struct Weight {
    std::int32_t target = 0;
    T weight = 0;
  };

  std::vector<PackedTreeNode<T>> nodes;
  std::vector<std::int32_t> roots;
  std::vector<Weight> weights;
  std::vector<std::int32_t> weights_begin;  // those of node n are [weights_begin[n], weights_begin[n + 1])
  bool tracks_nan = false;                  // some node has kNanGoesRight
  // If some nodes compare for equality, the nodes are not followed as above, but by these. Empty otherwise.
  std::vector<TreeNode> by_equality;
  std::vector<double> members;
  std::int64_t targets = 0;
  std::int64_t most_feature = -1;
  std::int64_t most_steps = 0;  // an estimate of the steps from a root to a leaf
};

template <typename T>
[[nodiscard]] PackedTrees<T> packed_trees(const TreeNodes& trees);

// Rows or trees that are followed side by side, because each step waits for memory.
inline constexpr int kTreeLanes = 8;

// Moves each lane from its node to a leaf. `rows`: the features of the lane.
template <typename X, typename T>
void follow_lanes(const PackedTrees<T>& trees, const std::array<const X*, kTreeLanes>& rows,
                  std::array<std::int32_t, kTreeLanes>& nodes);

}  // namespace lowtide::kernels_internal
