// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/flags.h"
#include "lowtide/graph/graph.h"

namespace lowtide::lower_internal {

// The nodes that wait for a node, or that a node waits for (Node::control_inputs). O(nodes + waits).
[[nodiscard]] inline Flags<NodeId> nodes_with_waits(const Graph& graph) {
  Flags<NodeId> found(graph.nodes().size());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    for (NodeId before : graph.node(id).control_inputs) {
      found.set(before);
      found.set(id);
    }
  }
  return found;
}

}  // namespace lowtide::lower_internal
