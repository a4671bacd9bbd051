// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>

#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/graph.h"

namespace lowtide::verify_internal {

// Whether two nodes have the same attributes. Unlike with ==, a NaN is equal to a NaN.
[[nodiscard]] bool have_same_attributes(const Node& a, const Node& b);

// The number of an attribute, which may be absent.
[[nodiscard]] double number_or(const Node& node, std::string_view name, double otherwise);

// Whether a BatchNormalization reads its mean and variance, instead of computing them.
[[nodiscard]] bool reads_statistics(const Node& norm);

// Finds the tensors of a model by name, for graphs that were made from it.
class ModelTensors {
 public:
  // `table` has the bytes of the model's constants; nullptr: none are known. O(tensors + nodes). Requires: `model`
  // outlives the object.
  explicit ModelTensors(const Graph& model, const ConstantTable* table = nullptr);

  // Gives the tensors that a lowtide::Reorder of the graph reads or writes the tensor of the model that its other
  // tensor has by name. Only a claim: reorder_fault() checks it. O(nodes). Requires: `graph` outlives the object.
  void add_reordered(const Graph& graph);

  [[nodiscard]] const Graph& model() const { return model_; }
  [[nodiscard]] std::optional<TensorId> find(std::string_view name) const;
  [[nodiscard]] std::optional<TensorId> find(const Graph& graph, TensorId tensor) const {
    return find(graph.tensor(tensor).name);
  }
  // Whether two tensors of the model have the same content, because only copies are between them: Identity, Cast to the
  // same type, Dropout outside of training or with the ratio 0, operators that leave all elements where they are, and a
  // DequantizeLinear with the QuantizeLinear that undoes it.
  [[nodiscard]] bool have_same_content(TensorId a, TensorId b) const { return content_[a] == content_[b]; }
  // The tensor of the model that others copy, directly or through copies. A tensor that copies nothing is its own.
  [[nodiscard]] TensorId content_of(TensorId id) const { return content_[id]; }
  // The value of a constant that is one f32, or one f16 that stands for it, and that the file contains. nullopt without
  // a table.
  [[nodiscard]] std::optional<float> number(TensorId id, const ConstantTable* table) const;
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

// Whether the operator gives a tensor another format.
[[nodiscard]] bool is_reorder(const Operator& op);

}  // namespace lowtide::verify_internal
