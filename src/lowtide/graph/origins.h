// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// For each node and tensor of a rewritten graph, the ids in the original graph that it stands for. Reports and plans
// use them to show the names of the model. Lists are ascending, with each id once. A list is empty if there is no
// origin.
struct Origins {
  struct OfBody;
  IdVector<NodeId, std::vector<NodeId>> nodes;
  IdVector<TensorId, std::vector<TensorId>> tensors;
  // Entries for bodies that GraphRewriter::replace_body (rewrite.h) replaced. Sorted by node, then position.
  std::vector<OfBody> bodies;
  friend bool operator==(const Origins&, const Origins&) = default;
};

// The origins in a rewritten body. `node` has exactly one origin. The original ids refer to the body at the same
// position of that origin.
struct Origins::OfBody {
  NodeId node;
  std::size_t position = 0;  // in Node::bodies
  Origins origins;
  friend bool operator==(const OfBody&, const OfBody&) = default;
};

// The origins after two rewrites: `earlier` maps ids of the second graph to the first, and `later` maps ids of the
// third graph to the second. The result maps ids of the third graph to the first. O(entries log entries). Recursion
// only over bodies.
[[nodiscard]] Origins compose(const Origins& earlier, const Origins& later);

}  // namespace lowtide
