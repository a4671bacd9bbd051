// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// What a plan's ids are called: enough to show a plan without its model.
struct NodeLabel {
  std::string name;  // may be empty
  std::string op;    // "Conv", or "domain::Type"
  friend bool operator==(const NodeLabel&, const NodeLabel&) = default;
};

struct TensorLabel {
  std::string name;
  DType dtype = DType::f32;
  Role role = Role::temporary;
  Shape shape;
  Bytes size;
  friend bool operator==(const TensorLabel&, const TensorLabel&) = default;
};

// Indexed as the graph is. `bodies[node]` in the order of Node::bodies; most nodes have none, so it is sparse.
struct Labels {
  IdVector<NodeId, NodeLabel> nodes;
  IdVector<TensorId, TensorLabel> tensors;
  struct BodyLabels;
  std::vector<BodyLabels> bodies;  // sorted by node, then position
};

struct Labels::BodyLabels {
  NodeId node;
  std::string body;
  Labels labels;
};

[[nodiscard]] Labels labels_of(const Graph& graph);

}  // namespace lowtide
