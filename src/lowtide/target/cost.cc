// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/target/cost.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace lowtide {
namespace {

// The sum and the product, at most kMostPicoseconds.
std::int64_t add(std::int64_t a, std::int64_t b) { return std::min(a + b, cost_model::kMostPicoseconds); }
std::int64_t times(std::int64_t a, std::int64_t b) {
  return b != 0 && a > cost_model::kMostPicoseconds / b ? cost_model::kMostPicoseconds : a * b;
}

std::int64_t elements(const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape.extents()) count = times(count, extent);
  return count;
}

std::int64_t extent_or_1(const Shape& shape, int from_end) {
  const auto& extents = shape.extents();
  const auto rank = static_cast<int>(extents.size());
  return rank >= from_end ? extents[static_cast<std::size_t>(rank - from_end)] : 1;
}

// The number of multiply-add operations.
std::int64_t products(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::string& type = graph.op(id).type;
  const bool has_operands = node.inputs.size() >= 2 && node.inputs[0] && node.inputs[1] && !node.outputs.empty() &&
                            node.outputs[0] && graph.op(id).domain.empty();
  if (!has_operands) return 0;
  const Shape& first = graph.tensor(*node.inputs[0]).shape;
  const Shape& second = graph.tensor(*node.inputs[1]).shape;
  const Shape& result = graph.tensor(*node.outputs[0]).shape;
  if (type == "Conv" && second.rank() > 0) {  // weights: results x (inputs of a group x window)
    return times(elements(result), elements(second) / std::max<std::int64_t>(second.extents()[0], 1));
  }
  if (type == "ConvTranspose" && second.rank() > 0) {
    return times(elements(first), elements(second) / std::max<std::int64_t>(second.extents()[0], 1));
  }
  if (type == "MatMul") return times(elements(result), extent_or_1(first, 1));
  if (type == "Gemm") {
    const std::int64_t* transposed = find_attribute<std::int64_t>(node.attributes, "transA");
    return times(elements(result), extent_or_1(first, transposed != nullptr && *transposed != 0 ? 2 : 1));
  }
  return 0;
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
