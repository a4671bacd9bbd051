// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/body_names.h"

#include <algorithm>

#include "lowtide/graph/node_name.h"

namespace lowtide {

BodyNames::BodyNames(const Graph& graph) : graph_(graph) {
  std::unordered_set<std::string_view> used;
  for (const Node& node : graph.nodes()) {
    if (!node.bodies.empty() && !used.insert(node.name).second) used_twice_.insert(node.name);
  }
}

std::string BodyNames::prefix(NodeId id, const Body& body) const {
  const Node& node = graph_.node(id);
  const std::string end = "/" + body.name + "/";
  const auto written = std::ranges::find_if(node.outputs, [](const auto& output) { return output.has_value(); });
  const bool is_ambiguous = !node.name.empty() && used_twice_.contains(node.name) && written != node.outputs.end();
  return (is_ambiguous ? graph_.tensor(**written).name : node_name(graph_, id)) + end;
}

}  // namespace lowtide
