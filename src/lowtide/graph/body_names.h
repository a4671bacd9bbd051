// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "lowtide/graph/graph.h"

namespace lowtide {

// The names of tensors of bodies among those of the whole model, such as "choose/then_branch/w" for the tensor w of a
// branch of node 'choose'. Passes that keep the nodes with bodies and the names of tensors keep these names. Two
// tensors may get the same one if names have slashes.
class BodyNames {
 public:
  // O(nodes). Requires: `graph` outlives the object.
  explicit BodyNames(const Graph& graph);

  // What stands before the name of a tensor of the body: "choose/then_branch/". A node without a name, or with the name
  // of another node with bodies, is named by its first output.
  [[nodiscard]] std::string prefix(NodeId node, const Body& body) const;

 private:
  const Graph& graph_;
  std::unordered_set<std::string_view> used_twice_;
};

}  // namespace lowtide
