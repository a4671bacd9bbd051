// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "lowtide/graph/graph.h"
#include "lowtide/graph/standard_operator.h"

namespace lowtide::lower_internal {

// Reads connected nodes of ONNX, from a node to its operands or to its readers. All functions are O(1).
class PatternReader {
 public:
  // Requires: `graph` outlives the reader.
  explicit PatternReader(const Graph& graph) : graph_(graph) {}

  [[nodiscard]] bool is(NodeId id, std::string_view type) const { return is_standard(graph_.op(id), type); }

  // nullopt: the operand is omitted.
  [[nodiscard]] std::optional<TensorId> operand(NodeId id, std::size_t at) const {
    const Node& node = graph_.node(id);
    return at < node.inputs.size() ? node.inputs[at] : std::nullopt;
  }

  // Requires: the node has result 0.
  [[nodiscard]] TensorId result(NodeId id) const { return *graph_.node(id).outputs[0]; }

  // The node of a type that computes a tensor.
  [[nodiscard]] std::optional<NodeId> producer(TensorId tensor, std::string_view type) const {
    const std::optional<NodeId> node = graph_.tensor(tensor).producer;
    return node && is(*node, type) ? node : std::nullopt;
  }

  // The only reader of a tensor that nothing else needs, if it has this type.
  [[nodiscard]] std::optional<NodeId> only_reader(TensorId tensor, std::string_view type) const {
    if (graph_.is_needed_at_end(tensor) || graph_.readers(tensor).size() != 1) return std::nullopt;
    const NodeId reader = graph_.readers(tensor)[0];
    return is(reader, type) ? std::optional(reader) : std::nullopt;
  }

 private:
  const Graph& graph_;
};

}  // namespace lowtide::lower_internal
