// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <vector>

#include "lowtide/schedule/orders.h"

namespace lowtide::detail {
namespace {

// What must run before a node, in the order in which it is visited.
std::vector<NodeId> predecessors(const Graph& graph, NodeId id) {
  std::vector<NodeId> before;
  const Node& node = graph.node(id);
  for (const std::optional<TensorId>& input : node.inputs) {
    if (input && graph.tensor(*input).producer) before.push_back(*graph.tensor(*input).producer);
  }
  for (const Body& body : node.bodies) {
    for (const auto& [outer, inner] : body.captures) {
      if (graph.tensor(outer).producer) before.push_back(*graph.tensor(outer).producer);
    }
  }
  before.insert(before.end(), node.control_inputs.begin(), node.control_inputs.end());
  return before;
}

class DepthFirst {
 public:
  explicit DepthFirst(const Graph& graph) : graph_(graph), seen_(graph.nodes().size(), 0) {
    order_.reserve(graph.nodes().size());
  }

  void visit(NodeId root) {
    if (seen_[root] != 0) return;
    enter(root);
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (top.next == top.before.size()) {
        order_.push_back(top.node);
        stack_.pop_back();
        continue;
      }
      const NodeId before = top.before[top.next++];
      if (seen_[before] == 0) enter(before);  // `top` is gone after this
    }
  }

  std::vector<NodeId> take() { return std::move(order_); }

 private:
  struct Frame {
    NodeId node;
    std::vector<NodeId> before;
    std::size_t next = 0;
  };

  void enter(NodeId id) {
    seen_[id] = 1;
    stack_.push_back({id, predecessors(graph_, id)});
  }

  const Graph& graph_;
  IdVector<NodeId, char> seen_;
  std::vector<Frame> stack_;
  std::vector<NodeId> order_;
};

}  // namespace

std::vector<NodeId> depth_first(const Graph& graph) {
  DepthFirst walk(graph);
  for (TensorId output : graph.outputs()) {
    if (graph.tensor(output).producer) walk.visit(*graph.tensor(output).producer);
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) walk.visit(id);
  return walk.take();
}

}  // namespace lowtide::detail
