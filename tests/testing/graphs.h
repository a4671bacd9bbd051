// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/text.h"
#include "lowtide/target/target.h"

namespace lowtide::testing {

// Parses a graph. Throws if the text is wrong, because then the test is wrong.
inline Graph graph_of(std::string_view text) {
  Result<Graph> graph = parse_graph(text, "test");
  if (!graph) throw std::runtime_error(graph.error().describe());
  return *std::move(graph);
}

inline TensorId tensor_named(const Graph& graph, std::string_view name) {
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (graph.tensor(id).name == name) return id;
  }
  throw std::runtime_error("no tensor " + std::string(name));
}

inline ChosenKernels dense_kernels(const Graph& graph) {
  ChosenKernels kernels;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) kernels.push_back(dense_catalogue()->kernels(graph, id)[0]);
  return kernels;
}

inline std::vector<NodeId> given_order(const Graph& graph) {
  std::vector<NodeId> order;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) order.push_back(id);
  return order;
}

inline bool is_topological(const Graph& graph, const std::vector<NodeId>& order) {
  IdVector<NodeId, std::size_t> position(graph.nodes().size(), order.size());
  for (std::size_t at = 0; at < order.size(); ++at) position[order[at]] = at;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (position[id] == order.size()) return false;
    for (TensorId tensor : graph.reads(id)) {
      if (graph.tensor(tensor).producer && position[*graph.tensor(tensor).producer] >= position[id]) return false;
    }
    for (NodeId before : graph.node(id).control_inputs) {
      if (position[before] >= position[id]) return false;
    }
  }
  return order.size() == graph.nodes().size();
}

// Calls `visit` for every order. For graphs of a few nodes.
inline void for_every_order(const Graph& graph, const std::function<void(const std::vector<NodeId>&)>& visit) {
  std::vector<NodeId> order = given_order(graph);
  do {
    if (is_topological(graph, order)) visit(order);
  } while (std::next_permutation(order.begin(), order.end()));
}

// Two branches, each large first and small last, listed breadth-first. As given, a, b and c are live at once: 201
// floats. Depth first finishes one branch before the next one, and needs 102.
constexpr const char* kTwoBranches = R"(graph "g" {
  input x : f32[1]
  a = Conv(x) : f32[100]
  b = Conv(x) : f32[100]
  c = Conv(a) : f32[1]
  d = Conv(b) : f32[1]
  e = Conv(c, d) : f32[1]
  output e
})";

// The concats c and d both put the second half of the constant w first.
constexpr const char* kSwappedHalves = R"(graph "g" {
  input i : f32[1]
  constant w : f32[4]
  s, t = Split(w) {axis = 0, split = [2, 2]} : f32[2], f32[2]
  c = Concat(t, s) {axis = 0} : f32[4]
  p = Conv(c) : f32[1]
  r = Conv(p) : f32[16]
  u = Conv(r) : f32[1]
  d = Concat(t, s) after (u) {axis = 0} : f32[4]
  q = Conv(d, u) : f32[1]
  output q
})";

// The names of the first outputs of the nodes.
inline std::string names_of(const Graph& graph, const std::vector<NodeId>& order, std::string_view separator = "") {
  std::string text;
  for (NodeId id : order) {
    text += (text.empty() ? "" : std::string(separator)) + graph.tensor(*graph.node(id).outputs[0]).name;
  }
  return text;
}

}  // namespace lowtide::testing
