// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/classical/packed_trees.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace lowtide::kernels_internal {
namespace {

// The largest T that is at most `value`, or below it. NaN if there is none, so that no number is at most that.
template <typename T>
T rounded_down(double value, bool is_below) {
  constexpr T kLeast = -std::numeric_limits<T>::infinity();
  T rounded = static_cast<T>(value);
  if (static_cast<double>(rounded) > value) rounded = std::nextafter(rounded, kLeast);
  if (!is_below || static_cast<double>(rounded) < value) return rounded;
  return rounded == kLeast ? std::numeric_limits<T>::quiet_NaN() : std::nextafter(rounded, kLeast);
}

// x > v is not x <= v, except for a NaN, which goes to the side of false unless the node says otherwise. No number is
// at most a NaN, and none is above it.
template <typename T>
PackedTreeNode<T> packed_branch(const TreeNode& of, std::int32_t on_true, std::int32_t on_false) {
  const bool is_nan = std::isnan(of.value);
  const bool is_below = of.comparison == Comparison::below || of.comparison == Comparison::at_least;
  const bool is_swapped = !is_nan && (of.comparison == Comparison::above || of.comparison == Comparison::at_least);
  PackedTreeNode<T> node;
  node.value = is_nan ? std::numeric_limits<T>::quiet_NaN() : rounded_down<T>(of.value, is_below);
  node.children = is_swapped ? std::array{on_true, on_false} : std::array{on_false, on_true};
  node.feature = static_cast<std::uint32_t>(of.feature);
  if (of.is_true_for_nan != is_swapped) node.feature |= kNanGoesRight;
  return node;
}

bool compares_equality(const TreeNode& node) { return !node.is_leaf && node.comparison >= Comparison::equal; }

// The nodes that roots lead to, each tree behind the one before. A node comes before its children, level by level.
std::vector<std::int64_t> order_of(const TreeNodes& trees, std::vector<std::int32_t>& positions) {
  std::vector<std::int64_t> order;
  const auto add = [&](std::int64_t node) {
    std::int32_t& position = positions[static_cast<std::size_t>(node)];
    if (position >= 0) return;
    position = static_cast<std::int32_t>(order.size());
    order.push_back(node);
  };
  std::size_t at = 0;
  for (std::int64_t root : trees.roots) {
    add(root);
    for (; at < order.size(); ++at) {
      const TreeNode& node = trees.nodes[static_cast<std::size_t>(order[at])];
      if (node.is_leaf) continue;
      add(node.on_false);
      add(node.on_true);
    }
  }
  return order;
}

bool holds(const TreeNode& node, double x, const std::vector<double>& members) {
  if (std::isnan(x) && node.is_true_for_nan) return true;
  switch (node.comparison) {
    case Comparison::at_most: return x <= node.value;
    case Comparison::below: return x < node.value;
    case Comparison::at_least: return x >= node.value;
    case Comparison::above: return x > node.value;
    case Comparison::equal: return x == node.value;
    case Comparison::not_equal: return x != node.value;
    case Comparison::member:
      return !std::isnan(x) && std::binary_search(members.begin() + node.begin, members.begin() + node.end, x);
  }
  return false;
}

template <bool tracks_nan, typename X, typename T>
void follow(const PackedTreeNode<T>* nodes, const std::array<const X*, kTreeLanes>& rows,
            std::array<std::int32_t, kTreeLanes>& at) {
  std::int32_t moved = 1;
  while (moved != 0) {
    moved = 0;
    for (std::size_t lane = 0; lane < at.size(); ++lane) {
      const PackedTreeNode<T>& node = nodes[at[lane]];
      const T x = static_cast<T>(rows[lane][node.feature & ~kNanGoesRight]);
      bool is_right = x <= node.value;
      if constexpr (tracks_nan) is_right |= std::isnan(x) & ((node.feature & kNanGoesRight) != 0);
      const std::int32_t next = node.children[is_right ? 1 : 0];
      moved |= next ^ at[lane];
      at[lane] = next;
    }
  }
}

// Adds a node whose children, or which itself if it is a leaf, have these positions.
template <typename T>
void add_node(const TreeNodes& trees, const TreeNode& node, std::array<std::int32_t, 2> children,
              PackedTrees<T>& packed) {
  packed.weights_begin.push_back(static_cast<std::int32_t>(packed.weights.size()));
  if (!node.is_leaf) {
    packed.nodes.push_back(packed_branch<T>(node, children[1], children[0]));
    packed.tracks_nan |= (packed.nodes.back().feature & kNanGoesRight) != 0;
    return;
  }
  packed.nodes.push_back({.children = children});
  for (std::int64_t weight = node.begin; weight < node.end; ++weight) {
    const LeafWeight& of = trees.weights[static_cast<std::size_t>(weight)];
    packed.weights.push_back({static_cast<std::int32_t>(of.target), static_cast<T>(of.weight)});
  }
}

}  // namespace

template <typename T>
PackedTrees<T> packed_trees(const TreeNodes& trees) {
  PackedTrees<T> packed;
  std::vector<std::int32_t> positions(trees.nodes.size(), -1);
  const std::vector<std::int64_t> order = order_of(trees, positions);
  const auto position = [&](std::int64_t node) { return positions[static_cast<std::size_t>(node)]; };
  const auto node_at = [&](std::int64_t at) -> const TreeNode& { return trees.nodes[static_cast<std::size_t>(at)]; };
  const bool has_equality = std::ranges::any_of(order, [&](std::int64_t at) { return compares_equality(node_at(at)); });
  packed.nodes.reserve(order.size());
  for (std::int64_t at : order) {
    const TreeNode& node = node_at(at);
    const std::int32_t on_false = position(node.is_leaf ? at : node.on_false);
    const std::int32_t on_true = position(node.is_leaf ? at : node.on_true);
    add_node(trees, node, {on_false, on_true}, packed);
    if (!has_equality) continue;
    packed.by_equality.push_back(node);
    packed.by_equality.back().on_true = on_true;
    packed.by_equality.back().on_false = on_false;
  }
  packed.weights_begin.push_back(static_cast<std::int32_t>(packed.weights.size()));
  for (std::int64_t root : trees.roots) packed.roots.push_back(position(root));
  packed.members = trees.members;
  packed.targets = trees.targets;
  packed.most_feature = trees.most_feature;
  // A balanced tree of n nodes has log2(n) levels.
  const auto count = static_cast<double>(std::max<std::size_t>(trees.roots.size(), 1));
  packed.most_steps = static_cast<std::int64_t>(std::log2(static_cast<double>(order.size()) / count + 1)) + 1;
  return packed;
}

template <typename X, typename T>
void follow_lanes(const PackedTrees<T>& trees, const std::array<const X*, kTreeLanes>& rows,
                  std::array<std::int32_t, kTreeLanes>& nodes) {
  if (trees.by_equality.empty()) {
    return trees.tracks_nan ? follow<true>(trees.nodes.data(), rows, nodes)
                            : follow<false>(trees.nodes.data(), rows, nodes);
  }
  for (std::size_t lane = 0; lane < nodes.size(); ++lane) {
    const TreeNode* node = &trees.by_equality[static_cast<std::size_t>(nodes[lane])];
    while (!node->is_leaf) {
      const T x = static_cast<T>(rows[lane][node->feature]);
      nodes[lane] = static_cast<std::int32_t>(holds(*node, static_cast<double>(x), trees.members) ? node->on_true
                                                                                                  : node->on_false);
      node = &trees.by_equality[static_cast<std::size_t>(nodes[lane])];
    }
  }
}

template PackedTrees<float> packed_trees(const TreeNodes& trees);
template PackedTrees<double> packed_trees(const TreeNodes& trees);

template <typename X>
using LaneRows = std::array<const X*, kTreeLanes>;
using LaneNodes = std::array<std::int32_t, kTreeLanes>;
template void follow_lanes(const PackedTrees<float>& trees, const LaneRows<float>& rows, LaneNodes& nodes);
template void follow_lanes(const PackedTrees<float>& trees, const LaneRows<std::int64_t>& rows, LaneNodes& nodes);
template void follow_lanes(const PackedTrees<float>& trees, const LaneRows<std::int32_t>& rows, LaneNodes& nodes);
template void follow_lanes(const PackedTrees<double>& trees, const LaneRows<double>& rows, LaneNodes& nodes);

}  // namespace lowtide::kernels_internal
