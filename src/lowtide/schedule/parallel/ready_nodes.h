// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/schedule/streams.h"

namespace lowtide::schedule_internal {

// The nodes whose predecessors (predecessors.h) have ended and that have not started, by priority. The position of a
// node is that in the sequential order. O((nodes + edges) log nodes) for a whole run.
class ReadyNodes {
 public:
  // The smallest key comes first. Aliases come before others, since they take no time and other nodes wait for them;
  // then the priority decides, then the position.
  using Key = std::pair<std::int64_t, std::uint32_t>;

  ReadyNodes(const Graph& graph, const Schedule& sequential, const IdVector<NodeId, std::int64_t>& costs,
             StreamPriority priority);

  // The second part of a key is the position.
  [[nodiscard]] const std::set<Key>& keys() const { return keys_; }
  [[nodiscard]] bool contains(std::uint32_t position) const;

  void start(NodeId id) { keys_.erase(key_of(id)); }
  void end(NodeId id);

  [[nodiscard]] const std::vector<NodeId>& before(NodeId id) const { return before_[id]; }
  [[nodiscard]] std::uint32_t position_of(NodeId id) const { return position_[id]; }
  [[nodiscard]] bool is_alias(NodeId id) const { return sequential_.aliases.step_kinds[id] == StepKind::alias; }
  [[nodiscard]] bool has_kernel(NodeId id) const { return sequential_.aliases.step_kinds[id] == StepKind::compute; }
  [[nodiscard]] std::int64_t cost_of(NodeId id) const { return is_alias(id) ? 0 : costs_[id]; }

 private:
  [[nodiscard]] Key key_of(NodeId id) const;
  void set_urgency();

  const Schedule& sequential_;
  const IdVector<NodeId, std::int64_t>& costs_;
  const StreamPriority priority_;
  const IdVector<NodeId, std::vector<NodeId>> before_;
  IdVector<NodeId, std::vector<NodeId>> after_;
  IdVector<NodeId, std::uint32_t> waiting_;   // how many predecessors have not ended
  IdVector<NodeId, std::uint32_t> position_;  // in the sequential order
  IdVector<NodeId, std::int64_t> urgency_;    // longest path to the end, including its own cost
  std::set<Key> keys_;
};

}  // namespace lowtide::schedule_internal
