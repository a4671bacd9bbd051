// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/verify/lowering/model_tensors.h"

namespace lowtide::verify_internal {

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

// Whether the operator makes constants of a convolution: those with a BatchNormalization folded into them, and weights
// in another order.
[[nodiscard]] bool makes_weights(const Operator& op);

// Whether a tensor is the result of such an operator, in the lowered graph or in the load-time work.
[[nodiscard]] bool is_made_weight(const Graph& lowered, TensorId tensor, const LoadTimeResults* load);

// Whether a constant is a result of load-time work that gives a constant another format.
[[nodiscard]] bool is_reordered_constant(const Graph& lowered, TensorId tensor, const LoadTimeResults* load);

// Whether a lowtide::Conv computes the given convolution of the model. `load` may be nullptr, which means that there is
// no load-time work.
[[nodiscard]] bool is_convolution_of(const ModelTensors& tensors, const Graph& lowered, NodeId conv,
                                     const LoadTimeResults* load, NodeId was);

// Whether a lowtide::PackedMatMul computes the given MatMul or Gemm of the model. `load` as above.
[[nodiscard]] bool is_matrix_product_of(const ModelTensors& tensors, const Graph& lowered, NodeId product,
                                        const LoadTimeResults* load, NodeId was);

// Whether a convolution computes the given BatchNormalization of the model and the convolution before it.
[[nodiscard]] bool has_folded(const ModelTensors& tensors, const Graph& lowered, NodeId conv,
                              const LoadTimeResults* load, NodeId norm);

// What load-time work differs in from the model or, with load_of_body(), from a body: "" if it only has nodes of this
// graph, nodes of its bodies, nodes for which makes_weights() holds, and other formats of constants. What a body
// captures is compared in the graph that has it. O(nodes + edges + length of the names).
[[nodiscard]] std::string load_time_fault(const ModelTensors& tensors, const Graph& load);

}  // namespace lowtide::verify_internal
