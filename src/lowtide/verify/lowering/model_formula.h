// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/graph.h"
#include "lowtide/verify/lowering/model_tensors.h"

namespace lowtide::verify_internal {

// Reads a formula of the model that one lowered node stands for, from its result to its operands, and notes the nodes
// of the model that compute it.
class ModelFormula {
 public:
  ModelFormula(const ModelTensors& tensors, const Graph& lowered, NodeId node, const ConstantTable* table)
      : tensors_(tensors), model_(tensors.model()), lowered_(lowered), now_(lowered.node(node)), table_(table) {}

  [[nodiscard]] const std::vector<NodeId>& nodes() const { return nodes_; }

 protected:
  // The node of the model that computes a tensor, if it has this type of ONNX. Nothing is noted.
  [[nodiscard]] std::optional<NodeId> maker(TensorId tensor, std::string_view type) const {
    const std::optional<NodeId> producer = model_.tensor(tensors_.content_of(tensor)).producer;
    if (!producer) return std::nullopt;
    const Operator& op = model_.op(*producer);
    const bool is_it = (op.domain.empty() || op.domain == "ai.onnx") && op.type == type;
    return is_it ? producer : std::nullopt;
  }

  // Notes a node. The first one must have the name of the lowered node. Returns false if it does not.
  bool note(NodeId node) {
    if (nodes_.empty() && model_.node(node).name != now_.name) return false;
    nodes_.push_back(node);
    return true;
  }
  // Forgets the node that was noted last.
  void forget() { nodes_.pop_back(); }

  [[nodiscard]] std::optional<float> number(TensorId tensor) const { return tensors_.number(tensor, table_); }

  const ModelTensors& tensors_;
  const Graph& model_;
  const Graph& lowered_;
  const Node& now_;

 private:
  const ConstantTable* table_;
  std::vector<NodeId> nodes_;
};

}  // namespace lowtide::verify_internal
