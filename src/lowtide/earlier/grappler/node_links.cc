// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/node_links.h"

#include <algorithm>
#include <string>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"

namespace lowtide::grappler_internal {
namespace {

void keep_each_once(std::vector<NodeIndex>& nodes) {
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

bool is_next_iteration(const DefNode& node) { return node.op == "NextIteration" || node.op == "RefNextIteration"; }

}  // namespace

bool is_merge(const DefNode& node) { return node.op == "Merge" || node.op == "RefMerge" || node.op == "_XlaMerge"; }

Result<NodeLinks> link_nodes(const std::vector<DefNode>& nodes) {
  if (static_cast<std::int64_t>(nodes.size()) > limits::kMaxNodes) {
    return Error{ErrorCode::over_limit,
                 "the graph has more than " + std::to_string(limits::kMaxNodes) + " nodes (kMaxNodes)", ""};
  }
  NodeLinks links;
  links.inputs.resize(nodes.size());
  links.readers.resize(nodes.size());
  for (NodeIndex at = 0; at < nodes.size(); ++at) {
    if (!links.by_name.emplace(nodes[at].name, at).second) {
      return Error{ErrorCode::invalid, "two nodes have this name", shown_node(nodes[at].name, nodes[at].op)};
    }
  }
  for (NodeIndex at = 0; at < nodes.size(); ++at) {
    for (const std::string& input : nodes[at].inputs) {
      const auto found = links.by_name.find(read_input(input).node);
      if (found == links.by_name.end()) {
        return Error{ErrorCode::invalid, "its input " + quoted(input, 60) + " does not exist",
                     shown_node(nodes[at].name, nodes[at].op)};
      }
      links.inputs[at].push_back(found->second);
      links.readers[found->second].push_back(at);
    }
  }
  for (std::vector<NodeIndex>& readers : links.readers) keep_each_once(readers);
  return links;
}

Result<std::vector<NodeIndex>> sorted_order(const std::vector<DefNode>& nodes, const NodeLinks& links) {
  std::vector<NodeIndex> order;
  std::vector<std::size_t> waits(nodes.size(), 0);
  for (NodeIndex at = 0; at < nodes.size(); ++at) {
    std::vector<NodeIndex> inputs = links.inputs[at];
    keep_each_once(inputs);
    waits[at] = inputs.size();
    if (inputs.empty()) order.push_back(at);
    if (!is_merge(nodes[at])) continue;
    waits[at] -= static_cast<std::size_t>(
        std::ranges::count_if(inputs, [&](NodeIndex input) { return is_next_iteration(nodes[input]); }));
  }
  // A Merge that reads nothing but the ends of loops is never ready.
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (NodeIndex reader : links.readers[order[next]]) {
      const bool closes_loop = is_merge(nodes[reader]) && is_next_iteration(nodes[order[next]]);
      if (!closes_loop && --waits[reader] == 0) order.push_back(reader);
    }
  }
  if (order.size() == nodes.size()) return order;
  std::vector<bool> is_sorted(nodes.size(), false);
  for (NodeIndex at : order) is_sorted[at] = true;
  const auto first = std::ranges::find(is_sorted, false);
  const DefNode& blocked = nodes[static_cast<std::size_t>(first - is_sorted.begin())];
  return Error{ErrorCode::invalid, "the node is in a cycle, or behind one", shown_node(blocked.name, blocked.op)};
}

}  // namespace lowtide::grappler_internal
