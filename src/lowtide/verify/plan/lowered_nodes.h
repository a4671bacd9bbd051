// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide::verify_internal {

// Whether two nodes have the same attributes. Unlike with ==, a NaN is equal to a NaN.
[[nodiscard]] bool have_same_attributes(const Node& a, const Node& b);

// Finds the tensors of a model by name, for graphs that were made from it.
class ModelTensors {
 public:
  // O(tensors + nodes). Requires: `model` outlives the object.
  explicit ModelTensors(const Graph& model);

  [[nodiscard]] const Graph& model() const { return model_; }
  [[nodiscard]] std::optional<TensorId> find(std::string_view name) const;
  [[nodiscard]] std::optional<TensorId> find(const Graph& graph, TensorId tensor) const {
    return find(graph.tensor(tensor).name);
  }
  // Whether two tensors of the model have the same content, because only copies are between them: Identity, Cast to the
  // same type, Dropout outside of training, and a DequantizeLinear with the QuantizeLinear that undoes it.
  [[nodiscard]] bool have_same_content(TensorId a, TensorId b) const { return content_[a] == content_[b]; }
  // The tensor of the model that others copy, directly or through copies. A tensor that copies nothing is its own.
  [[nodiscard]] TensorId content_of(TensorId id) const { return content_[id]; }
  // Whether an operand of a node has the content of an operand in the model. Both may be omitted.
  [[nodiscard]] bool reads_same(std::optional<TensorId> in_model, const Graph& graph,
                                std::optional<TensorId> operand) const;
  template <typename List>
  [[nodiscard]] bool read_same(const List& in_model, const Graph& graph, const List& operands) const {
    if (in_model.size() != operands.size()) return false;
    for (std::size_t at = 0; at < operands.size(); ++at) {
      if (!reads_same(in_model[at], graph, operands[at])) return false;
    }
    return true;
  }

 private:
  const Graph& model_;
  std::unordered_map<std::string_view, TensorId> by_name_;
  IdVector<TensorId, TensorId> content_;  // of copies, the tensor that they copy in the end
};

// The results of load-time work, by name.
class LoadTimeResults {
 public:
  // O(outputs). Requires: `load` outlives the object.
  explicit LoadTimeResults(const Graph& load);

  [[nodiscard]] const Graph& graph() const { return load_; }
  [[nodiscard]] std::optional<NodeId> producer_of(std::string_view name) const;

 private:
  const Graph& load_;
  std::unordered_map<std::string_view, TensorId> by_name_;
};

// The nodes of the model that one node of a lowered graph does the work of, in order.
struct FusedNodes {
  std::vector<NodeId> nodes;
  std::string fault;  // "" if it computes what the nodes compute
};
// The last node of a chain whose result the model does not have: a QuantizeLinear of the model that reads the real
// tensor instead of its own operand (quantized_nodes.h). It is not among FusedNodes::nodes.
struct LastOfChain {
  NodeId quantize;
  TensorId real;
};
[[nodiscard]] FusedNodes nodes_of_chain(const ModelTensors& tensors, const Graph& lowered, NodeId chain,
                                        const std::optional<LastOfChain>& last = std::nullopt);

// Whether the operator makes the constants of a convolution with a BatchNormalization folded into it.
[[nodiscard]] bool makes_scaled_constant(const Operator& op);

// Whether a tensor is the result of such an operator, in the lowered graph or in the load-time work.
[[nodiscard]] bool is_scaled_constant(const Graph& lowered, TensorId tensor, const LoadTimeResults* load);

// Whether a convolution computes the given BatchNormalization of the model and the convolution before it. `load` may be
// nullptr, which means that there is no load-time work.
[[nodiscard]] bool has_folded(const ModelTensors& tensors, const Graph& lowered, NodeId conv,
                              const LoadTimeResults* load, NodeId norm);

// What load-time work differs in from the model: "" if it only has nodes of the model, nodes of its bodies, and nodes
// for which makes_scaled_constant() holds. O(nodes + edges + length of the names).
[[nodiscard]] std::string load_time_fault(const ModelTensors& tensors, const Graph& load);

}  // namespace lowtide::verify_internal
