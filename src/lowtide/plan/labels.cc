// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/labels.h"

#include <algorithm>

namespace lowtide {

// Recursion over bodies only, whose nesting is bounded by limits::kMaxBodyNesting.
Labels labels_of(const Graph& graph) {
  Labels labels;
  labels.nodes.reserve(graph.nodes().size());
  labels.tensors.reserve(graph.tensors().size());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Operator& op = graph.op(id);
    labels.nodes.push_back({graph.node(id).name, full_name(op)});
    for (const Body& body : graph.node(id).bodies) labels.bodies.push_back({id, body.name, labels_of(*body.graph)});
  }
  for (const Tensor& tensor : graph.tensors()) {
    labels.tensors.push_back({tensor.name, tensor.dtype, tensor.role, tensor.shape, tensor.size});
  }
  return labels;
}

const Labels* body_labels(const Labels& labels, NodeId node, std::size_t position) {
  const auto first = std::lower_bound(labels.bodies.begin(), labels.bodies.end(), node,
                                      [](const Labels::BodyLabels& body, NodeId id) { return body.node < id; });
  const auto left = static_cast<std::size_t>(labels.bodies.end() - first);
  if (position >= left) return nullptr;
  const Labels::BodyLabels& found = *(first + static_cast<std::ptrdiff_t>(position));
  return found.node == node ? &found.labels : nullptr;
}

}  // namespace lowtide
