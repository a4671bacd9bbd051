// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// The names that belong to the ids of a plan. With them a plan can be shown without its model.
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

// Nodes and tensors have the ids of the graph.
struct Labels {
  IdVector<NodeId, NodeLabel> nodes;
  IdVector<TensorId, TensorLabel> tensors;
  struct BodyLabels;
  std::vector<BodyLabels> bodies;  // sorted by node; those of one node in the order of Node::bodies
};

struct Labels::BodyLabels {
  NodeId node;
  std::string body;  // Body::name
  Labels labels;
};

// The labels of a graph and of all bodies inside it. O(graph). Recursion only over bodies.
[[nodiscard]] Labels labels_of(const Graph& graph);

// The labels of the body at `position` among those of the node; nullptr if there are none. O(log bodies).
[[nodiscard]] const Labels* body_labels(const Labels& labels, NodeId node, std::size_t position);

}  // namespace lowtide
