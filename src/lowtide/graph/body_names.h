// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "lowtide/graph/graph.h"

namespace lowtide {

// Where a body is in the whole model: "choose/then_branch/" for a branch of node 'choose'. Messages and traces name
// what is in a body by it, and a tensor w of the body is "choose/then_branch/w" in the load-time work. Passes that keep
// the nodes with bodies and the names of tensors keep these names. Two tensors may get the same one if names have
// slashes.
class BodyNames {
 public:
  // O(nodes). Requires: `graph` outlives the object.
  explicit BodyNames(const Graph& graph);

  // What stands before the names in a body. The node has its node_name() or, if another node with bodies has the same
  // name, that of its first output.
  [[nodiscard]] std::string prefix(NodeId node, const Body& body) const;

 private:
  const Graph& graph_;
  std::unordered_set<std::string_view> used_twice_;
};

}  // namespace lowtide
