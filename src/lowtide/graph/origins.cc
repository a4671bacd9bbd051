// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/origins.h"

#include <algorithm>
#include <map>
#include <utility>

namespace lowtide {
namespace {

template <typename IdType>
IdVector<IdType, std::vector<IdType>> compose_lists(const IdVector<IdType, std::vector<IdType>>& earlier,
                                                    const IdVector<IdType, std::vector<IdType>>& later) {
  IdVector<IdType, std::vector<IdType>> composed(later.size());
  for (IdType id : all_ids<IdType>(later.size())) {
    for (IdType origin : later[id]) {
      composed[id].insert(composed[id].end(), earlier[origin].begin(), earlier[origin].end());
    }
    std::sort(composed[id].begin(), composed[id].end());
    composed[id].erase(std::unique(composed[id].begin(), composed[id].end()), composed[id].end());
  }
  return composed;
}

// The entry of a body; nullptr if it was not rewritten.
const Origins* find_body(const Origins& origins, NodeId node, std::size_t position) {
  const auto found = std::lower_bound(
      origins.bodies.begin(), origins.bodies.end(), std::pair(node, position),
      [](const Origins::OfBody& body, const auto& wanted) { return std::pair(body.node, body.position) < wanted; });
  const bool is_there = found != origins.bodies.end() && found->node == node && found->position == position;
  return is_there ? &found->origins : nullptr;
}

}  // namespace

Origins compose(const Origins& earlier, const Origins& later) {
  Origins composed{compose_lists(earlier.nodes, later.nodes), compose_lists(earlier.tensors, later.tensors), {}};
  for (const Origins::OfBody& body : later.bodies) {
    const std::vector<NodeId>& origins = later.nodes[body.node];
    const Origins* before = origins.size() == 1 ? find_body(earlier, origins[0], body.position) : nullptr;
    composed.bodies.push_back({body.node, body.position, before ? compose(*before, body.origins) : body.origins});
  }
  std::map<NodeId, std::vector<const Origins::OfBody*>> rewritten_before;
  for (const Origins::OfBody& body : earlier.bodies) rewritten_before[body.node].push_back(&body);
  for (NodeId node : all_ids<NodeId>(later.nodes.size())) {
    if (rewritten_before.empty() || later.nodes[node].size() != 1) continue;
    const auto before = rewritten_before.find(later.nodes[node][0]);
    if (before == rewritten_before.end()) continue;
    for (const Origins::OfBody* body : before->second) {
      if (find_body(later, node, body->position) != nullptr) continue;
      composed.bodies.push_back({node, body->position, body->origins});
    }
  }
  std::sort(composed.bodies.begin(), composed.bodies.end(), [](const Origins::OfBody& a, const Origins::OfBody& b) {
    return std::pair(a.node, a.position) < std::pair(b.node, b.position);
  });
  return composed;
}

}  // namespace lowtide
