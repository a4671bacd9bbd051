// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/target/cost.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/graph/multiply_accumulates.h"

namespace lowtide {
namespace {

// The sum and the product, at most kMostPicoseconds.
std::int64_t add(std::int64_t a, std::int64_t b) { return std::min(a + b, cost_model::kMostPicoseconds); }
std::int64_t times(std::int64_t a, std::int64_t b) {
  return b != 0 && a > cost_model::kMostPicoseconds / b ? cost_model::kMostPicoseconds : a * b;
}

// The multiply-accumulate operations of the operators whose time they dominate.
std::int64_t products(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Operator& op = graph.op(id);
  const bool has_operands = node.inputs.size() >= 2 && node.inputs[0] && node.inputs[1] && !node.outputs.empty() &&
                            node.outputs[0] && (op.domain.empty() || op.domain == kOwnDomain);
  const bool is_counted = op.type == "Conv" || op.type == "ConvTranspose" || op.type == "MatMul" || op.type == "Gemm" ||
                          (op.domain == kOwnDomain && (op.type == kAttentionType || op.type == kPackedMatMulType));
  if (!has_operands || !is_counted) return 0;
  return multiply_accumulates(graph, id).value_or(cost_model::kMostPicoseconds);  // more than 2^63 - 1
}

std::int64_t bytes_moved(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  std::vector<TensorId> tensors;
  for (const std::optional<TensorId>& input : node.inputs) {
    if (input) tensors.push_back(*input);
  }
  std::sort(tensors.begin(), tensors.end());
  tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
  for (const std::optional<TensorId>& output : node.outputs) {
    if (output) tensors.push_back(*output);
  }
  std::int64_t bytes = 0;
  for (TensorId tensor : tensors) bytes = add(bytes, graph.tensor(tensor).size.count());
  return bytes;
}

// Recursion over bodies only, bounded by limits::kMaxBodyNesting.
std::int64_t modelled(const Graph& graph, NodeId id) {
  std::int64_t cost = cost_model::kPicosecondsToStart;
  cost = add(cost, times(bytes_moved(graph, id), cost_model::kPicosecondsPerByte));
  cost = add(cost, times(products(graph, id), 2 * cost_model::kPicosecondsPerOperation));
  for (const Body& body : graph.node(id).bodies) {
    for (NodeId inner : all_ids<NodeId>(body.graph->nodes().size())) cost = add(cost, modelled(*body.graph, inner));
  }
  return cost;
}

}  // namespace

std::int64_t estimated_picoseconds(const Graph& graph, NodeId node, const Kernel& kernel) {
  if (!(kernel.cost_seconds > 0)) return modelled(graph, node);
  const double picoseconds = kernel.cost_seconds * 1e12;
  if (picoseconds >= static_cast<double>(cost_model::kMostPicoseconds)) return cost_model::kMostPicoseconds;
  return std::max<std::int64_t>(std::llround(picoseconds), 1);
}

}  // namespace lowtide
