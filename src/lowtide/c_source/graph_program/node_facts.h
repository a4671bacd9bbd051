// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/c_source/c_program/c_program.h"
#include "lowtide/graph/graph.h"

namespace lowtide::graph_program_internal {

using Extents = std::vector<std::int64_t>;

// The bytes of a constant, little endian and dense. nullopt: the tensor is not a constant.
using BytesOf = std::function<std::optional<std::span<const std::byte>>(TensorId)>;

// The type of C that holds elements of this type. nullopt: there is none.
[[nodiscard]] std::optional<CType> c_type_of(DType dtype);

// Why a node has no calls.
[[nodiscard]] Error missing(std::string reason);

// What rules read of a node. Inputs and outputs are counted as in Node. Keeps references.
class NodeFacts {
 public:
  NodeFacts(const Graph& graph, NodeId id, const BytesOf& bytes_of) : graph_(graph), id_(id), bytes_of_(bytes_of) {}

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] NodeId id() const { return id_; }
  [[nodiscard]] const Node& node() const { return graph_.node(id_); }
  [[nodiscard]] std::string_view type() const { return graph_.op(id_).type; }

  // Whether an operand is there. Any number may be asked for.
  [[nodiscard]] bool has_input(std::size_t input) const;
  [[nodiscard]] bool has_output(std::size_t output) const;
  // Requires: it is there.
  [[nodiscard]] const Tensor& input(std::size_t input) const { return graph_.tensor(*node().inputs[input]); }
  [[nodiscard]] const Tensor& output(std::size_t output) const { return graph_.tensor(*node().outputs[output]); }
  [[nodiscard]] const Extents& input_shape(std::size_t at) const { return input(at).shape.extents(); }
  [[nodiscard]] const Extents& output_shape(std::size_t at) const { return output(at).shape.extents(); }

  // Attributes. `otherwise` if the node has none of this name and type.
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] float number(std::string_view name, double otherwise) const;
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise) const;
  [[nodiscard]] std::optional<Extents> integers(std::string_view name) const;
  // Whether the node has an older meaning of its operator, from before this opset.
  [[nodiscard]] bool is_before(std::int64_t opset) const;

  // The content of an input that is a constant. nullopt: it is absent, not constant, or of another type.
  [[nodiscard]] std::optional<Extents> constant_integers(std::size_t input) const;
  [[nodiscard]] std::optional<std::vector<float>> constant_floats(std::size_t input) const;
  // A list that is an input in newer opsets and an attribute in older ones. nullopt: it is in neither. Errors: it is an
  // input that is not a constant.
  [[nodiscard]] Result<std::optional<Extents>> list(std::size_t input, std::string_view attribute) const;

  // Errors: one of these inputs that is there, or output 0, has another type.
  [[nodiscard]] Result<void> check_floats(std::initializer_list<std::size_t> inputs) const;
  // Errors: the node has more results than these.
  [[nodiscard]] Result<void> check_results(std::size_t most) const;

 private:
  const Graph& graph_;
  NodeId id_;
  const BytesOf& bytes_of_;
};

// An axis that may count from the end, of a tensor with this rank. Errors: there is no such axis.
[[nodiscard]] Result<std::size_t> axis_of(std::int64_t axis, std::size_t rank);

// The product of extents [begin, end).
[[nodiscard]] std::int64_t product(const Extents& extents, std::size_t begin, std::size_t end);
[[nodiscard]] inline std::int64_t product(const Extents& extents) { return product(extents, 0, extents.size()); }

// The distance between neighbors along each axis of a dense tensor, in elements.
[[nodiscard]] Extents dense_steps(const Extents& extents);

}  // namespace lowtide::graph_program_internal
