// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "lowtide/earlier/netdef/graph_of_net.h"
#include "lowtide/earlier/netdef/net.h"

namespace lowtide::testing {

inline ProtoMessage net_of_text(std::string_view text) {
  Result<NetFile> net = read_net(text);
  if (!net) throw std::runtime_error(net.error().describe());
  return std::move(net->net);
}

inline NetGraph net_graph(std::string_view text, const NetGraphOptions& options = {}) {
  Result<NetGraph> graph = graph_of_net(net_of_text(text), options);
  if (!graph) throw std::runtime_error(graph.error().describe());
  return *std::move(graph);
}

inline std::string net_refusal(std::string_view text, const NetGraphOptions& options = {}) {
  const Result<NetGraph> graph = graph_of_net(net_of_text(text), options);
  return graph.ok() ? "accepted" : graph.error().describe();
}

}  // namespace lowtide::testing
