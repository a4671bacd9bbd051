// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/net/check_options.h"

#include <cstdint>
#include <optional>
#include <string>

#include "lowtide/base/flags.h"
#include "lowtide/base/limits.h"

namespace lowtide::baselines_internal {

Result<void> check_numbers(const BaselineOptions& options) {
  if (options.nodes_at_once < 1 || options.streams < 1) {
    return Error{ErrorCode::invalid,
                 "waves of " + std::to_string(options.nodes_at_once) + " nodes on " + std::to_string(options.streams) +
                     " streams are not possible; give at least 1 of each",
                 ""};
  }
  if (options.alignment &&
      (!is_power_of_two(options.alignment->count()) || options.alignment->count() > limits::kMaxAlignment)) {
    return Error{ErrorCode::invalid,
                 "the alignment is " + std::to_string(options.alignment->count()) +
                     "; it must be a power of two of at most " + std::to_string(limits::kMaxAlignment),
                 ""};
  }
  return {};
}

Result<void> check_order(const Graph& graph, const std::vector<NodeId>& order) {
  Flags<NodeId> has_run(graph.nodes().size());
  const auto refuse = [&](NodeId id, const std::string& why) {
    return Error{ErrorCode::invalid, "the order is invalid: node " + std::to_string(id.value()) + " " + why, ""};
  };
  for (NodeId id : order) {
    if (!graph.nodes().contains(id)) return refuse(id, "is not in the graph");
    if (has_run.test(id)) return refuse(id, "appears twice");
    for (TensorId tensor : graph.reads(id)) {
      const std::optional<NodeId> producer = graph.tensor(tensor).producer;
      if (producer && !has_run.test(*producer)) {
        return refuse(id, "comes before node " + std::to_string(producer->value()) + ", whose output it reads");
      }
    }
    for (NodeId before : graph.node(id).control_inputs) {
      if (!has_run.test(before))
        return refuse(id, "comes before node " + std::to_string(before.value()) + ", its control input");
    }
    has_run.set(id);
  }
  if (order.size() == graph.nodes().size()) return {};
  return Error{ErrorCode::invalid,
               "the order has " + std::to_string(order.size()) + " nodes, but the graph has " +
                   std::to_string(graph.nodes().size()),
               ""};
}

}  // namespace lowtide::baselines_internal
