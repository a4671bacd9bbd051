// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "lowtide/schedule/orders/heuristics.h"

namespace lowtide::schedule_internal {

std::vector<NodeId> as_given(const Graph& graph) {
  std::vector<NodeId> order;
  order.reserve(graph.nodes().size());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) order.push_back(id);
  return order;
}

}  // namespace lowtide::schedule_internal
