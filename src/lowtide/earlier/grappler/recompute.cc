// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/recompute.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/earlier/grappler/node_links.h"

namespace lowtide::grappler_internal {
namespace {

constexpr std::string_view kCopyPrefix = "Recomputed/";
constexpr std::string_view kTriggerPrefix = "RecomputeTrigger/";

// The inputs of targets that all groups together may read: this many, and for each input of the graph some more.
constexpr std::size_t kLeastLimit = 1'000'000;
constexpr std::size_t kMostReads = 64;

std::string prefixed(std::string_view prefix, std::string_view name) { return std::string(prefix) + std::string(name); }

// Nodes that are copied together, and the nodes that then read the copies. Both ascend.
struct RecomputeGroup {
  std::vector<NodeIndex> sources;
  std::vector<NodeIndex> targets;
};

// The nodes are sorted, so a node with a smaller index runs earlier.
class GroupRecomputer {
 public:
  GroupRecomputer(std::vector<DefNode>& nodes, NodeLinks links, const RecomputeRule& rule)
      : nodes_(nodes), links_(std::move(links)), count_(static_cast<NodeIndex>(nodes.size())) {
    const std::string inner = "/" + rule.target_scope;
    for (const DefNode& node : nodes_) {
      const bool is_target = node.name.starts_with(rule.target_scope) || node.name.find(inner) != std::string::npos;
      is_target_.push_back(is_target);
      most_target_inputs_ += kMostReads * node.inputs.size();
      is_candidate_.push_back(!is_target && rule.is_recomputed(node));
    }
  }

  Result<RecomputedNodes> recompute() {
    RecomputedNodes done;
    const std::vector<RecomputeGroup> groups = find_groups();
    for (const RecomputeGroup& group : groups) {
      LOWTIDE_RETURN_IF_ERROR(copy_group(group));
      for (NodeIndex at : group.sources) done.names.push_back(nodes_[at].name);
      ++done.groups;
    }
    for (DefNode& node : added_) nodes_.push_back(std::move(node));
    return done;
  }

 private:
  [[nodiscard]] bool reads_target(NodeIndex at) const {
    return std::ranges::any_of(links_.inputs[at], [&](NodeIndex input) { return is_target_[input]; });
  }

  [[nodiscard]] bool is_read_by_target(NodeIndex at) const {
    return std::ranges::any_of(links_.readers[at], [&](NodeIndex reader) { return is_target_[reader]; });
  }

  // Adds the candidates that are not in a group yet, and are connected with those of the group.
  void connect(std::vector<NodeIndex>& group) {
    for (std::size_t next = 0; next < group.size(); ++next) {
      const NodeIndex at = group[next];
      for (const auto* list : {&links_.inputs[at], &links_.readers[at]}) {
        for (NodeIndex neighbor : *list) {
          if (!is_candidate_[neighbor] || is_visited_[neighbor]) continue;
          is_visited_[neighbor] = true;
          group.push_back(neighbor);
        }
      }
    }
  }

  // Members that targets read, with the members that these need. Groups are disjoint, so a mark is enough.
  [[nodiscard]] RecomputeGroup sources_of(const std::vector<NodeIndex>& members) {
    RecomputeGroup group;
    for (NodeIndex at : members) is_member_[at] = true;
    for (NodeIndex at : members) {
      bool is_read = false;
      for (NodeIndex reader : links_.readers[at]) {
        if (!is_target_[reader]) continue;
        is_read = true;
        group.targets.push_back(reader);
      }
      if (is_read) group.sources.push_back(at);
    }
    for (NodeIndex at : group.sources) is_source_[at] = true;
    for (std::size_t next = 0; next < group.sources.size(); ++next) {
      for (NodeIndex input : links_.inputs[group.sources[next]]) {
        if (!is_member_[input] || is_source_[input]) continue;
        is_source_[input] = true;
        group.sources.push_back(input);
      }
    }
    for (NodeIndex at : members) is_member_[at] = is_source_[at] = false;
    std::ranges::sort(group.sources);
    std::ranges::sort(group.targets);
    group.targets.erase(std::unique(group.targets.begin(), group.targets.end()), group.targets.end());
    return group;
  }

  [[nodiscard]] std::vector<RecomputeGroup> find_groups() {
    is_visited_.assign(count_, false);
    is_member_.assign(count_, false);
    is_source_.assign(count_, false);
    std::vector<RecomputeGroup> groups;
    // The original goes through a hash table of addresses. If it holds a few nodes, these mostly come last first.
    for (NodeIndex at = count_; at-- > 0;) {
      if (!is_candidate_[at] || is_visited_[at] || !is_read_by_target(at) || reads_target(at)) continue;
      is_visited_[at] = true;
      std::vector<NodeIndex> members = {at};
      connect(members);
      groups.push_back(sources_of(members));
    }
    return groups;
  }

  // For each source, the index of the earliest node that needs its copy: a target, or what needs the copy of a source
  // that reads it. Of a source on a loop, readers that come before it do not count.
  [[nodiscard]] std::unordered_map<NodeIndex, NodeIndex> first_uses(const RecomputeGroup& group) const {
    std::unordered_map<NodeIndex, NodeIndex> first;
    for (NodeIndex at : group.sources) first[at] = count_;
    for (auto at = group.sources.rbegin(); at != group.sources.rend(); ++at) {
      NodeIndex& use = first[*at];
      for (NodeIndex reader : links_.readers[*at]) {
        if (const auto source = first.find(reader); source != first.end()) use = std::min(use, source->second);
        if (is_target_[reader]) use = std::min(use, reader);
      }
    }
    return first;
  }

  // What the targets read apart from the sources, ascending, once for each time that a target reads it. Inputs that
  // are copies by now are left out, as in the original.
  [[nodiscard]] std::vector<NodeIndex> other_inputs(const RecomputeGroup& group,
                                                    const std::unordered_map<NodeIndex, NodeIndex>& sources) const {
    std::vector<NodeIndex> others;
    for (NodeIndex target : group.targets) {
      for (const std::string& input : nodes_[target].inputs) {
        const auto found = links_.by_name.find(read_input(input).node);
        if (found == links_.by_name.end() || found->second == target || sources.contains(found->second)) continue;
        others.push_back(found->second);
      }
    }
    std::ranges::sort(others);
    return others;
  }

  // A trigger for each source. It runs after the inputs of targets that are computed before the source is needed, so
  // that the copy does not run at once, and after the trigger before it. No cycle can arise: all of these run before
  // the earliest node that needs the copy.
  void add_triggers(const RecomputeGroup& group) {
    const std::unordered_map<NodeIndex, NodeIndex> first = first_uses(group);
    std::vector<NodeIndex> sources = group.sources;
    std::ranges::sort(sources, [&](NodeIndex left, NodeIndex right) {
      return std::pair(first.at(left), std::string_view(nodes_[right].name)) <
             std::pair(first.at(right), std::string_view(nodes_[left].name));
    });
    const std::vector<NodeIndex> others = other_inputs(group, first);
    auto other = others.begin();
    std::string before;
    for (NodeIndex at : sources) {
      DefNode trigger{.name = prefixed(kTriggerPrefix, nodes_[at].name),
                      .op = "NoOp",
                      .device = nodes_[at].device,
                      .inputs = {},
                      .attributes = {}};
      if (!before.empty()) trigger.inputs.push_back(prefixed("^", before));
      for (; other != others.end() && *other < first.at(at); ++other) {
        trigger.inputs.push_back(prefixed("^", nodes_[*other].name));
      }
      before = trigger.name;
      added_.push_back(std::move(trigger));
    }
  }

  // Each group reads all inputs of its targets, and its triggers may wait for all of them.
  Result<void> count_target_inputs(const RecomputeGroup& group) {
    for (NodeIndex target : group.targets) target_inputs_ += nodes_[target].inputs.size();
    if (target_inputs_ <= most_target_inputs_) return {};
    return Error{ErrorCode::over_limit,
                 "with the targets of all groups that run again, more than " + std::to_string(most_target_inputs_) +
                     " inputs are read, because many groups share a target; let fewer nodes run again",
                 shown_node(nodes_[group.targets.front()].name, nodes_[group.targets.front()].op)};
  }

  Result<void> copy_group(const RecomputeGroup& group) {
    LOWTIDE_RETURN_IF_ERROR(count_target_inputs(group));
    std::unordered_set<std::string> copied;
    for (NodeIndex at : group.sources) {
      for (std::string_view prefix : {kCopyPrefix, kTriggerPrefix}) {
        if (const auto found = links_.by_name.find(prefixed(prefix, nodes_[at].name)); found != links_.by_name.end()) {
          return Error{ErrorCode::invalid, "a new node would have this name, so the graph was rewritten before",
                       shown_node(nodes_[found->second].name, nodes_[found->second].op)};
        }
      }
      copied.insert(nodes_[at].name);
    }
    const auto redirect = [&](std::string& input) {
      if (copied.contains(input)) input.insert(0, kCopyPrefix);
    };
    add_triggers(group);
    for (NodeIndex at : group.sources) {
      DefNode copy = nodes_[at];
      copy.name.insert(0, kCopyPrefix);
      std::ranges::for_each(copy.inputs, redirect);
      copy.inputs.push_back(prefixed("^", prefixed(kTriggerPrefix, nodes_[at].name)));
      added_.push_back(std::move(copy));
    }
    for (NodeIndex target : group.targets) std::ranges::for_each(nodes_[target].inputs, redirect);
    return {};
  }

  std::vector<DefNode>& nodes_;
  std::vector<DefNode> added_;  // copies and triggers. They are apart, because the links view the names of the nodes
  NodeLinks links_;
  NodeIndex count_;
  std::size_t target_inputs_ = 0;  // of the groups so far
  std::size_t most_target_inputs_ = kLeastLimit;
  std::vector<bool> is_target_;
  std::vector<bool> is_candidate_;
  std::vector<bool> is_visited_;
  std::vector<bool> is_member_;
  std::vector<bool> is_source_;
};

}  // namespace

Result<RecomputedNodes> recompute_groups(std::vector<DefNode>& nodes, const RecomputeRule& rule) {
  std::vector<DefNode> sorted;
  {
    LOWTIDE_TRY(const NodeLinks links, link_nodes(nodes));
    LOWTIDE_TRY(const std::vector<NodeIndex> order, sorted_order(nodes, links));
    for (NodeIndex at : order) sorted.push_back(std::move(nodes[at]));
  }
  nodes = std::move(sorted);
  LOWTIDE_TRY(NodeLinks links, link_nodes(nodes));
  return GroupRecomputer(nodes, std::move(links), rule).recompute();
}

}  // namespace lowtide::grappler_internal
