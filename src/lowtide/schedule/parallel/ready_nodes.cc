// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/parallel/ready_nodes.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "lowtide/schedule/parallel/predecessors.h"

namespace lowtide::schedule_internal {

ReadyNodes::ReadyNodes(const Graph& graph, const Schedule& sequential, const IdVector<NodeId, std::int64_t>& costs,
                       StreamPriority priority)
    : sequential_(sequential),
      costs_(costs),
      priority_(priority),
      before_(predecessors(graph, sequential)),
      after_(graph.nodes().size()),
      waiting_(graph.nodes().size(), 0),
      position_(graph.nodes().size()),
      urgency_(graph.nodes().size(), 0) {
  for (std::size_t at = 0; at < sequential.order.size(); ++at) {
    position_[sequential.order[at]] = static_cast<std::uint32_t>(at);
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    waiting_[id] = static_cast<std::uint32_t>(before_[id].size());
    for (NodeId one : before_[id]) after_[one].push_back(id);
  }
  set_urgency();
  for (NodeId id : sequential.order) {
    if (waiting_[id] == 0) keys_.insert(key_of(id));
  }
}

void ReadyNodes::set_urgency() {
  for (std::size_t at = sequential_.order.size(); at-- > 0;) {
    const NodeId id = sequential_.order[at];
    std::int64_t longest = 0;
    for (NodeId next : after_[id]) longest = std::max(longest, urgency_[next]);
    urgency_[id] = longest + cost_of(id);
  }
}

ReadyNodes::Key ReadyNodes::key_of(NodeId id) const {
  if (is_alias(id)) return {std::numeric_limits<std::int64_t>::min(), position_[id]};
  return {priority_ == StreamPriority::longest_path ? -urgency_[id] : 0, position_[id]};
}

bool ReadyNodes::contains(std::uint32_t position) const {
  return position < sequential_.order.size() && keys_.contains(key_of(sequential_.order[position]));
}

void ReadyNodes::end(NodeId id) {
  for (NodeId next : after_[id]) {
    if (--waiting_[next] == 0) keys_.insert(key_of(next));
  }
}

}  // namespace lowtide::schedule_internal
