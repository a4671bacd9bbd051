// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/classical/tree_nodes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/plain/classical/lists.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::int64_t kMostTreeNodes = std::numeric_limits<std::int32_t>::max() / 2;

Error invalid_tree(std::string message) { return {ErrorCode::invalid, std::move(message), ""}; }

Result<void> check_lengths(std::string_view first, std::size_t length,
                           std::initializer_list<std::pair<std::string_view, std::size_t>> others) {
  for (const auto& [name, size] : others) {
    if (size != length) return different_lengths(first, length, name, size);
  }
  if (length > static_cast<std::size_t>(kMostTreeNodes)) {
    return Error{ErrorCode::over_limit,
                 "attribute " + quoted(first) + " has " + std::to_string(length) +
                     " entries, and kernels have at most " + std::to_string(kMostTreeNodes),
                 ""};
  }
  return {};
}

Result<void> note_feature(std::int64_t feature, TreeNodes& trees) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (feature < 0 || feature > kMost) {
    return invalid_tree("a node compares feature " + std::to_string(feature) + ", which is not in [0, " +
                        std::to_string(kMost) + "]");
  }
  trees.most_feature = std::max(trees.most_feature, feature);
  return {};
}

Result<void> check_targets(std::int64_t targets) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (targets >= 1 && targets <= kMost) return {};
  return invalid_tree("there are " + std::to_string(targets) + " targets or classes, which are not in [1, " +
                      std::to_string(kMost) + "]");
}

Result<void> check_target_of_weight(std::int64_t target, std::int64_t targets) {
  if (target >= 0 && target < targets) return {};
  return invalid_tree("a weight is for target " + std::to_string(target) + ", which is not in [0, " +
                      std::to_string(targets) + ")");
}

// Follows all paths from the roots. Each path keeps its place on a stack, so that a long one needs no stack of the
// thread.
Result<void> check_paths(const TreeNodes& trees) {
  enum class State : std::uint8_t { unseen, open, done };
  std::vector<State> states(trees.nodes.size(), State::unseen);
  std::vector<std::int64_t> path;
  const auto visit = [&](std::int64_t node) -> Result<void> {
    State& state = states[static_cast<std::size_t>(node)];
    if (state == State::open) return invalid_tree("a path of a tree comes back to a node, so it has no end");
    if (state == State::done) return {};
    state = State::open;
    path.push_back(node);
    return {};
  };
  for (std::int64_t root : trees.roots) {
    LOWTIDE_RETURN_IF_ERROR(visit(root));
    while (!path.empty()) {
      const TreeNode& node = trees.nodes[static_cast<std::size_t>(path.back())];
      State& state = states[static_cast<std::size_t>(path.back())];
      const std::size_t length = path.size();
      if (!node.is_leaf) {
        // A node is visited again after each of its subtrees.
        for (std::int64_t next : {node.on_true, node.on_false}) {
          if (states[static_cast<std::size_t>(next)] == State::done) continue;
          LOWTIDE_RETURN_IF_ERROR(visit(next));
          break;
        }
      }
      if (path.size() > length) continue;
      state = State::done;
      path.pop_back();
    }
  }
  return {};
}

// The number of targets: that of the attribute, or as many as the weights name.
std::int64_t targets_of(const Node& node, const std::vector<std::int64_t>& ids) {
  const std::int64_t named = ids.empty() ? 0 : std::max<std::int64_t>(*std::ranges::max_element(ids), 0);
  return integer_attribute(node, "n_targets", std::min(named, std::numeric_limits<std::int64_t>::max() - 1) + 1);
}

std::int64_t classes_of(const Node& node) {
  const auto* integers = integers_attribute(node, "classlabels_int64s");
  const std::size_t texts = texts_in(node, "classlabels_strings").size();
  return static_cast<std::int64_t>(std::max(integers == nullptr ? 0 : integers->size(), texts));
}

std::optional<Comparison> comparison_of(std::string_view mode) {
  constexpr std::array<std::pair<std::string_view, Comparison>, 6> kModes{{{"BRANCH_LEQ", Comparison::at_most},
                                                                           {"BRANCH_LT", Comparison::below},
                                                                           {"BRANCH_GTE", Comparison::at_least},
                                                                           {"BRANCH_GT", Comparison::above},
                                                                           {"BRANCH_EQ", Comparison::equal},
                                                                           {"BRANCH_NEQ", Comparison::not_equal}}};
  for (const auto& [name, comparison] : kModes) {
    if (name == mode) return comparison;
  }
  return std::nullopt;
}

// The nodes of TreeEnsembleClassifier and TreeEnsembleRegressor have ids, which count within a tree.
class NodesById {
 public:
  NodesById(const std::vector<std::int64_t>& trees, const std::vector<std::int64_t>& ids) {
    for (std::size_t at = 0; at < ids.size(); ++at) {
      entries_.emplace_back(trees[at], ids[at], static_cast<std::int64_t>(at));
    }
    std::ranges::sort(entries_);
  }

  [[nodiscard]] std::optional<std::int64_t> find(std::int64_t tree, std::int64_t id) const {
    const auto found = std::ranges::lower_bound(entries_, Entry(tree, id, 0));
    if (found == entries_.end() || std::get<0>(*found) != tree || std::get<1>(*found) != id) return std::nullopt;
    return std::get<2>(*found);
  }

  [[nodiscard]] Result<std::int64_t> expect(std::int64_t tree, std::int64_t id) const {
    if (const auto found = find(tree, id)) return *found;
    return invalid_tree("tree " + std::to_string(tree) + " has no node " + std::to_string(id));
  }

  [[nodiscard]] Result<void> check_unique() const {
    for (std::size_t at = 1; at < entries_.size(); ++at) {
      const auto& [tree, id, position] = entries_[at];
      if (std::get<0>(entries_[at - 1]) != tree || std::get<1>(entries_[at - 1]) != id) continue;
      return invalid_tree("tree " + std::to_string(tree) + " has two nodes " + std::to_string(id));
    }
    return {};
  }

  // The first node of each tree, in the order of the trees.
  [[nodiscard]] std::vector<std::int64_t> roots() const {
    std::vector<std::int64_t> roots;
    for (std::size_t at = 0; at < entries_.size(); ++at) {
      const bool is_new = at == 0 || std::get<0>(entries_[at - 1]) != std::get<0>(entries_[at]);
      if (is_new) roots.push_back(std::get<2>(entries_[at]));
      roots.back() = std::min(roots.back(), std::get<2>(entries_[at]));
    }
    return roots;
  }

 private:
  using Entry = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // tree, id, position in the lists
  std::vector<Entry> entries_;
};

Result<void> read_branches(const Node& node, const std::vector<std::int64_t>& trees, const NodesById& by_id,
                           TreeNodes& out) {
  LOWTIDE_TRY(const auto features, integers_in(node, "nodes_featureids"));
  LOWTIDE_TRY(const auto on_true, integers_in(node, "nodes_truenodeids"));
  LOWTIDE_TRY(const auto on_false, integers_in(node, "nodes_falsenodeids"));
  LOWTIDE_TRY(const auto missing, integers_in(node, "nodes_missing_value_tracks_true"));
  LOWTIDE_TRY(const auto values, reals_or_tensor_in(node, "nodes_values"));
  const auto modes = texts_in(node, "nodes_modes");
  LOWTIDE_RETURN_IF_ERROR(check_lengths("nodes_treeids", trees.size(),
                                        {{"nodes_featureids", features.size()},
                                         {"nodes_modes", modes.size()},
                                         {"nodes_truenodeids", on_true.size()},
                                         {"nodes_falsenodeids", on_false.size()},
                                         {"nodes_values", values.size()}}));
  out.nodes.resize(trees.size());
  for (std::size_t at = 0; at < trees.size(); ++at) {
    TreeNode& to = out.nodes[at];
    to.is_leaf = modes[at] == "LEAF";
    if (to.is_leaf) continue;
    const std::optional<Comparison> comparison = comparison_of(modes[at]);
    if (!comparison) return invalid_tree("attribute 'nodes_modes' has " + quoted(modes[at]) + ", which is not a mode");
    to.comparison = *comparison;
    to.value = values[at];
    to.is_true_for_nan = at < missing.size() && missing[at] != 0;
    to.feature = features[at];
    LOWTIDE_RETURN_IF_ERROR(note_feature(to.feature, out));
    LOWTIDE_TRY(to.on_true, by_id.expect(trees[at], on_true[at]));
    LOWTIDE_TRY(to.on_false, by_id.expect(trees[at], on_false[at]));
  }
  return {};
}

// `kind`: "class" or "target". Weights of nodes that are branches, which old converters write, are ignored.
Result<void> read_weights(const Node& node, const std::string& kind, const NodesById& by_id, TreeNodes& out) {
  LOWTIDE_TRY(const auto trees, integers_in(node, kind + "_treeids"));
  LOWTIDE_TRY(const auto ids, integers_in(node, kind + "_nodeids"));
  LOWTIDE_TRY(const auto targets, integers_in(node, kind + "_ids"));
  LOWTIDE_TRY(const auto weights, reals_or_tensor_in(node, kind + "_weights"));
  LOWTIDE_RETURN_IF_ERROR(check_lengths(
      kind + "_treeids", trees.size(),
      {{kind + "_nodeids", ids.size()}, {kind + "_ids", targets.size()}, {kind + "_weights", weights.size()}}));
  out.targets = kind == "class" ? classes_of(node) : targets_of(node, targets);
  LOWTIDE_RETURN_IF_ERROR(check_targets(out.targets));
  std::vector<std::pair<std::int64_t, std::size_t>> by_leaf;  // node and position, so that weights keep their order
  for (std::size_t at = 0; at < trees.size(); ++at) {
    LOWTIDE_TRY(const std::int64_t leaf, by_id.expect(trees[at], ids[at]));
    LOWTIDE_RETURN_IF_ERROR(check_target_of_weight(targets[at], out.targets));
    if (out.nodes[static_cast<std::size_t>(leaf)].is_leaf) by_leaf.emplace_back(leaf, at);
  }
  std::ranges::sort(by_leaf);
  for (const auto& [leaf, at] : by_leaf) {
    TreeNode& to = out.nodes[static_cast<std::size_t>(leaf)];
    const auto position = static_cast<std::int64_t>(out.weights.size());
    if (to.end == 0) to.begin = position;
    to.end = position + 1;
    out.weights.push_back({targets[at], weights[at]});
  }
  return {};
}

Result<TreeNodes> read_by_id(const Node& node, const std::string& kind) {
  TreeNodes trees;
  LOWTIDE_TRY(const auto tree_ids, integers_in(node, "nodes_treeids"));
  LOWTIDE_TRY(const auto ids, integers_in(node, "nodes_nodeids"));
  LOWTIDE_RETURN_IF_ERROR(check_lengths("nodes_treeids", tree_ids.size(), {{"nodes_nodeids", ids.size()}}));
  const NodesById by_id(tree_ids, ids);
  LOWTIDE_RETURN_IF_ERROR(by_id.check_unique());
  LOWTIDE_RETURN_IF_ERROR(read_branches(node, tree_ids, by_id, trees));
  LOWTIDE_RETURN_IF_ERROR(read_weights(node, kind, by_id, trees));
  trees.roots = by_id.roots();
  return trees;
}

// The attributes of TreeEnsemble, which count branches and leaves separately. Here, leaves follow the branches.
struct IndexedLists {
  std::vector<std::int64_t> features;
  std::vector<std::int64_t> modes;
  std::vector<std::int64_t> missing;
  std::array<std::vector<std::int64_t>, 2> next;     // on false, on true
  std::array<std::vector<std::int64_t>, 2> is_leaf;  // whether `next` is a leaf
  std::vector<double> splits;
  std::vector<std::int64_t> targets;
  std::vector<double> weights;

  [[nodiscard]] Result<std::int64_t> next_of(std::size_t at, bool is_true) const {
    const std::int64_t next_node = next[is_true ? 1 : 0][at];
    const bool goes_to_leaf = is_leaf[is_true ? 1 : 0][at] != 0;
    const auto count = static_cast<std::int64_t>(goes_to_leaf ? weights.size() : splits.size());
    if (next_node < 0 || next_node >= count) {
      return invalid_tree("node " + std::to_string(at) + " goes on to " + (goes_to_leaf ? "leaf " : "node ") +
                          std::to_string(next_node) + ", which is not in [0, " + std::to_string(count) + ")");
    }
    return next_node + (goes_to_leaf ? static_cast<std::int64_t>(splits.size()) : 0);
  }
};

Result<IndexedLists> read_lists(const Node& node) {
  IndexedLists lists;
  LOWTIDE_TRY(lists.features, integers_in(node, "nodes_featureids"));
  LOWTIDE_TRY(lists.modes, integers_in(node, "nodes_modes"));
  LOWTIDE_TRY(lists.missing, integers_in(node, "nodes_missing_value_tracks_true"));
  LOWTIDE_TRY(lists.next[0], integers_in(node, "nodes_falsenodeids"));
  LOWTIDE_TRY(lists.next[1], integers_in(node, "nodes_truenodeids"));
  LOWTIDE_TRY(lists.is_leaf[0], integers_in(node, "nodes_falseleafs"));
  LOWTIDE_TRY(lists.is_leaf[1], integers_in(node, "nodes_trueleafs"));
  LOWTIDE_TRY(lists.splits, reals_or_tensor_in(node, "nodes_splits"));
  LOWTIDE_TRY(lists.targets, integers_in(node, "leaf_targetids"));
  LOWTIDE_TRY(lists.weights, reals_or_tensor_in(node, "leaf_weights"));
  LOWTIDE_RETURN_IF_ERROR(check_lengths("nodes_splits", lists.splits.size(),
                                        {{"nodes_featureids", lists.features.size()},
                                         {"nodes_modes", lists.modes.size()},
                                         {"nodes_truenodeids", lists.next[1].size()},
                                         {"nodes_falsenodeids", lists.next[0].size()},
                                         {"nodes_trueleafs", lists.is_leaf[1].size()},
                                         {"nodes_falseleafs", lists.is_leaf[0].size()}}));
  LOWTIDE_RETURN_IF_ERROR(
      check_lengths("leaf_weights", lists.weights.size(), {{"leaf_targetids", lists.targets.size()}}));
  return lists;
}

// The values of each set end with a NaN. Sets are in the order of the nodes that have one.
Result<void> read_members(const Node& node, TreeNodes& trees) {
  LOWTIDE_TRY(const auto values, reals_or_tensor_in(node, "membership_values"));
  auto next = values.begin();
  for (TreeNode& to : trees.nodes) {
    if (to.is_leaf || to.comparison != Comparison::member) continue;
    if (next == values.end()) {
      return invalid_tree("attribute 'membership_values' has fewer sets than there are nodes with mode BRANCH_MEMBER");
    }
    to.begin = static_cast<std::int64_t>(trees.members.size());
    for (; next != values.end() && !std::isnan(*next); ++next) trees.members.push_back(*next);
    if (next != values.end()) ++next;
    to.end = static_cast<std::int64_t>(trees.members.size());
    std::sort(trees.members.begin() + to.begin, trees.members.end());
  }
  return {};
}

Result<TreeNodes> read_by_index(const Node& node) {
  LOWTIDE_TRY(const IndexedLists lists, read_lists(node));
  LOWTIDE_TRY(const auto roots, integers_in(node, "tree_roots"));
  TreeNodes trees;
  trees.targets = targets_of(node, lists.targets);
  LOWTIDE_RETURN_IF_ERROR(check_targets(trees.targets));
  const std::size_t branches = lists.splits.size();
  trees.nodes.resize(branches + lists.weights.size());
  for (std::size_t at = 0; at < branches; ++at) {
    TreeNode& to = trees.nodes[at];
    if (lists.modes[at] < 0 || lists.modes[at] > static_cast<std::int64_t>(Comparison::member)) {
      return invalid_tree("attribute 'nodes_modes' has " + std::to_string(lists.modes[at]) + ", which is not a mode");
    }
    to.comparison = static_cast<Comparison>(lists.modes[at]);
    to.value = lists.splits[at];
    to.is_true_for_nan = at < lists.missing.size() && lists.missing[at] != 0;
    to.feature = lists.features[at];
    LOWTIDE_RETURN_IF_ERROR(note_feature(to.feature, trees));
    LOWTIDE_TRY(to.on_true, lists.next_of(at, true));
    LOWTIDE_TRY(to.on_false, lists.next_of(at, false));
  }
  for (std::size_t at = 0; at < lists.weights.size(); ++at) {
    LOWTIDE_RETURN_IF_ERROR(check_target_of_weight(lists.targets[at], trees.targets));
    TreeNode& to = trees.nodes[branches + at];
    to.is_leaf = true;
    to.begin = static_cast<std::int64_t>(at);
    to.end = to.begin + 1;
    trees.weights.push_back({lists.targets[at], lists.weights[at]});
  }
  for (std::int64_t root : roots) {
    if (root < 0 || root >= static_cast<std::int64_t>(branches)) {
      return invalid_tree("attribute 'tree_roots' has " + std::to_string(root) + ", which is not in [0, " +
                          std::to_string(branches) + ")");
    }
  }
  trees.roots = roots;
  LOWTIDE_RETURN_IF_ERROR(read_members(node, trees));
  return trees;
}

}  // namespace

Result<TreeNodes> read_tree_nodes(const Graph& graph, NodeId node) {
  const std::string& type = graph.op(node).type;
  const Node& of = graph.node(node);
  LOWTIDE_TRY(TreeNodes trees, type == "TreeEnsemble"
                                   ? read_by_index(of)
                                   : read_by_id(of, type == "TreeEnsembleClassifier" ? "class" : "target"));
  LOWTIDE_RETURN_IF_ERROR(check_paths(trees));
  return trees;
}

}  // namespace lowtide::kernels_internal
