// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/graph.h"

#include <algorithm>

namespace lowtide {

std::vector<TensorId> Graph::operands(NodeId id) const {
  const Node& node = nodes_[id];
  std::vector<TensorId> operands;
  operands.reserve(node.inputs.size());
  for (const std::optional<TensorId>& input : node.inputs) {
    if (input) operands.push_back(*input);
  }
  if (node.bodies.empty()) return operands;
  std::vector<TensorId> inputs = operands;
  std::sort(inputs.begin(), inputs.end());
  for (TensorId read : reads(id)) {
    if (!std::binary_search(inputs.begin(), inputs.end(), read)) operands.push_back(read);
  }
  return operands;
}

const std::vector<std::int64_t>* Graph::known_integers(TensorId id) const {
  const auto at = std::lower_bound(known_.begin(), known_.end(), id,
                                   [](const auto& entry, TensorId wanted) { return entry.first < wanted; });
  return at != known_.end() && at->first == id ? &at->second : nullptr;
}

}  // namespace lowtide
