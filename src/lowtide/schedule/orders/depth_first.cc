// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/schedule/orders/heuristics.h"

namespace lowtide::schedule_internal {
namespace {

// Post-order over `next`: a node comes after all that it leads to.
class Walk {
 public:
  using Next = std::function<std::vector<NodeId>(NodeId)>;

  Walk(std::size_t nodes, Next next) : next_(std::move(next)), seen_(nodes) { order_.reserve(nodes); }

  void visit(NodeId root) {
    if (seen_.test(root)) return;
    enter(root);
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (top.next == top.nodes.size()) {
        order_.push_back(top.node);
        stack_.pop_back();
        continue;
      }
      const NodeId to = top.nodes[top.next++];
      if (!seen_.test(to)) enter(to);  // `top` is gone after this
    }
  }

  std::vector<NodeId> take() { return std::move(order_); }

 private:
  struct Frame {
    NodeId node;
    std::vector<NodeId> nodes;
    std::size_t next = 0;
  };

  void enter(NodeId id) {
    seen_.set(id);
    stack_.push_back({id, next_(id)});
  }

  Next next_;
  Flags<NodeId> seen_;
  std::vector<Frame> stack_;
  std::vector<NodeId> order_;
};

// Post-order from the outputs, then from the nodes that are left.
std::vector<NodeId> from_the_end(const Graph& graph, const std::function<void(std::vector<NodeId>&)>& sort) {
  Walk walk(graph.nodes().size(), [&](NodeId id) {
    std::vector<NodeId> before = nodes_before(graph, id);
    sort(before);
    return before;
  });
  std::vector<NodeId> ends;
  for (TensorId output : graph.outputs()) {
    if (graph.tensor(output).producer) ends.push_back(*graph.tensor(output).producer);
  }
  sort(ends);
  for (NodeId id : ends) walk.visit(id);
  std::vector<NodeId> rest;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) rest.push_back(id);
  sort(rest);
  for (NodeId id : rest) walk.visit(id);
  return walk.take();
}

// The same with nodes sorted by rank, the highest first. Ties keep their order.
template <typename Ranks>
std::vector<NodeId> from_the_end_by(const Graph& graph, const Ranks& ranks) {
  return from_the_end(graph, [&](std::vector<NodeId>& nodes) {
    std::stable_sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) { return ranks[a] > ranks[b]; });
  });
}

// By node: the number of edges on the longest path from a source.
IdVector<NodeId, std::int64_t> depths(const Graph& graph) {
  IdVector<NodeId, std::int64_t> depth(graph.nodes().size(), 0);
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    for (NodeId before : nodes_before(graph, id)) depth[id] = std::max(depth[id], depth[before] + 1);
  }
  return depth;
}

}  // namespace

std::vector<NodeId> nodes_before(const Graph& graph, NodeId id) {
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

std::vector<NodeId> depth_first(const Graph& graph) {
  return from_the_end(graph, [](std::vector<NodeId>&) {});
}

std::vector<NodeId> deepest_input_first(const Graph& graph) { return from_the_end_by(graph, depths(graph)); }

// Counts grow with the number of paths to a node, so they are capped.
std::vector<NodeId> depth_first_by_fan_out(const Graph& graph) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  IdVector<NodeId, std::pair<std::int64_t, std::int64_t>> ranks(graph.nodes().size());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    auto& [readers, bytes] = ranks[id];
    for (const std::optional<TensorId>& output : graph.node(id).outputs) {
      if (!output) continue;
      readers += std::max<std::int64_t>(static_cast<std::int64_t>(graph.readers(*output).size()) - 1, 0);
      bytes += graph.tensor(*output).size.count();
    }
    for (NodeId before : nodes_before(graph, id)) {
      readers = std::min(readers + ranks[before].first, kMost);
      bytes = std::min(bytes + ranks[before].second, kMost);
    }
  }
  return from_the_end_by(graph, ranks);
}

std::vector<NodeId> reverse_post_order(const Graph& graph) {
  const std::size_t count = graph.nodes().size();
  IdVector<NodeId, std::vector<NodeId>> after(count);
  Flags<NodeId> is_source(count, true);
  for (NodeId id : all_ids<NodeId>(count)) {
    for (NodeId before : nodes_before(graph, id)) {
      is_source.reset(id);
      if (after[before].empty() || after[before].back() != id) after[before].push_back(id);
    }
  }
  // The order is reversed below, so the walk begins with the last source and the last reader.
  Walk walk(count, [&](NodeId id) { return std::vector<NodeId>(after[id].rbegin(), after[id].rend()); });
  for (std::size_t at = count; at-- > 0;) {
    const NodeId id(static_cast<std::uint32_t>(at));
    if (is_source.test(id)) walk.visit(id);
  }
  std::vector<NodeId> order = walk.take();
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<NodeId> breadth_first(const Graph& graph) {
  const IdVector<NodeId, std::int64_t> depth = depths(graph);
  std::vector<NodeId> order;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) order.push_back(id);
  std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return depth[a] < depth[b]; });
  return order;
}

}  // namespace lowtide::schedule_internal
