// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/labels.h"

namespace lowtide {

// Recursion over bodies only, whose nesting is bounded by limits::kMaxBodyNesting.
Labels labels_of(const Graph& graph) {
  Labels labels;
  labels.nodes.reserve(graph.nodes().size());
  labels.tensors.reserve(graph.tensors().size());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Operator& op = graph.op(id);
    labels.nodes.push_back({graph.node(id).name, op.domain.empty() ? op.type : op.domain + "::" + op.type});
    for (const Body& body : graph.node(id).bodies) labels.bodies.push_back({id, body.name, labels_of(*body.graph)});
  }
  for (const Tensor& tensor : graph.tensors()) {
    labels.tensors.push_back({tensor.name, tensor.dtype, tensor.role, tensor.shape, tensor.size});
  }
  return labels;
}

}  // namespace lowtide
