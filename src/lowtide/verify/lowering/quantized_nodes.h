// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/graph/graph.h"
#include "lowtide/verify/lowering/lowered_nodes.h"

namespace lowtide::verify_internal {

// The nodes of a lowered graph that compute integers which the model computes with real numbers and a QuantizeLinear.
//
//   model:    q -> DequantizeLinear -> x -> Conv -> y -> MaxPool -> z -> QuantizeLinear "k" -> p
//   lowered:  q -> QLinearConv -> y.1 -> MaxPool -> p
//
// Here y.1 must be what "k" would make of y, because MaxPool gives the same integers before "k" as after it. So each
// node is compared with the node of the model that computes the real tensor, from "k" back to a DequantizeLinear.
// Scales are taken to be positive and finite.
class QuantizedNodes {
 public:
  // O(nodes + edges). Requires: both outlive the object.
  QuantizedNodes(const ModelTensors& tensors, const Graph& lowered);

  // Whether a tensor that the model does not have is such a tensor y.1.
  [[nodiscard]] bool has_integers(TensorId tensor) const { return is_integers_.test(tensor); }

  // The nodes of the model that a node of the lowered graph does the work of.
  // Returns nullptr if it computes no such integers. The node that writes the result of "k" has the nodes of all
  // of them.
  [[nodiscard]] const FusedNodes* work_of(NodeId lowered) const { return work_[lowered] ? &*work_[lowered] : nullptr; }

 private:
  // A node of the lowered graph, and the real tensor of the model whose integers it must compute.
  struct Step {
    NodeId node;
    TensorId real;
  };
  struct Target;

  FusedNodes check_all(NodeId last, NodeId quantize);
  std::string check(const Target& target, Step step, FusedNodes& work, std::vector<Step>& left);
  std::string take_integers(const Target& target, NodeId reader, std::size_t at, TensorId real,
                            std::vector<Step>& left);
  std::string check_moved(const Target& target, NodeId id, NodeId was, std::vector<Step>& left);
  [[nodiscard]] std::string check_convolution(const Target& target, NodeId id, NodeId was) const;
  [[nodiscard]] std::string check_product(const Target& target, NodeId id, NodeId was) const;
  [[nodiscard]] bool reads_operands(const Target& target, NodeId id, NodeId was, std::int64_t axis) const;

  const ModelTensors& tensors_;
  const Graph& model_;
  const Graph& lowered_;
  Flags<TensorId> is_integers_;
  IdVector<NodeId, std::optional<FusedNodes>> work_;
};

}  // namespace lowtide::verify_internal
