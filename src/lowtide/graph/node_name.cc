// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/node_name.h"

#include <algorithm>

namespace lowtide {

std::string node_name(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.name.empty()) return node.name;
  const auto written = std::ranges::find_if(node.outputs, [](const auto& output) { return output.has_value(); });
  if (written == node.outputs.end()) return "node " + std::to_string(id.value());
  return "node that writes " + graph.tensor(**written).name;
}

}  // namespace lowtide
