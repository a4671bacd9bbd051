// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/cycle.h"

#include <algorithm>
#include <optional>

#include "lowtide/base/check.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/quote.h"

namespace lowtide::graph_internal {
namespace {

using Edges = std::vector<std::pair<NodeId, NodeId>>;
using Waiting = IdVector<NodeId, std::uint32_t>;

// Follows edges backwards from a node that waits, until a node is reached for the second time.
NodeId node_on_a_cycle(const Edges& edges, const Waiting& waiting) {
  IdVector<NodeId, std::optional<NodeId>> waits_for(waiting.size());
  for (const auto& [before, after] : edges) {
    if (waiting[before] > 0 && !waits_for[after]) waits_for[after] = before;
  }
  NodeId node;
  while (waiting[node] == 0) node = NodeId(node.value() + 1);
  Flags<NodeId> is_seen(waiting.size());
  while (is_seen.insert(node)) {
    LOWTIDE_CHECK(waits_for[node].has_value(), "a node that is not ready waits for another one");
    node = *waits_for[node];
  }
  return node;
}

}  // namespace

std::vector<NodeId> find_cycle(const Edges& edges, const Waiting& waiting) {
  // A breadth-first search from `start` finds a shortest way back to it.
  const NodeId start = node_on_a_cycle(edges, waiting);
  IdVector<NodeId, std::optional<NodeId>> came_from(waiting.size());
  std::vector<NodeId> reached = {start};
  for (std::size_t at = 0; !came_from[start]; ++at) {
    LOWTIDE_CHECK(at < reached.size(), "a node on a cycle is reached from itself");
    auto edge = std::lower_bound(edges.begin(), edges.end(), std::pair(reached[at], NodeId()));
    for (; edge != edges.end() && edge->first == reached[at]; ++edge) {
      if (waiting[edge->second] == 0 || came_from[edge->second]) continue;
      came_from[edge->second] = reached[at];
      reached.push_back(edge->second);
    }
  }
  std::vector<NodeId> cycle = {start};
  for (NodeId node = *came_from[start]; node != start; node = *came_from[node]) cycle.push_back(node);
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

std::string cycle_text(const std::vector<NodeId>& cycle, const IdVector<NodeId, Node>& nodes) {
  constexpr std::size_t kMostShown = 8;
  constexpr std::size_t kMostBytes = 60;
  const auto name = [&](NodeId id) {
    return nodes[id].name.empty() ? "node " + std::to_string(id.value()) : quoted(nodes[id].name, kMostBytes);
  };
  std::string text;
  for (std::size_t at = 0; at < cycle.size(); ++at) {
    const bool is_left_out = cycle.size() > kMostShown && at >= kMostShown - 1 && at + 1 < cycle.size();
    if (is_left_out && at == kMostShown - 1) text += "... -> ";
    if (!is_left_out) text += name(cycle[at]) + " -> ";
  }
  return text + name(cycle.front());
}

}  // namespace lowtide::graph_internal
