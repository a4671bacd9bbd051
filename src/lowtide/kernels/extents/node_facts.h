// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/kernels/extents/known_extents.h"
#include "lowtide/kernels/kernel.h"

namespace lowtide::kernels_internal {

// What is known of the operands of a node before a run.
class NodeFacts {
 public:
  NodeFacts(const Graph& graph, NodeId id, const ConstantBytes& constant)
      : graph_(graph), id_(id), node_(graph.node(id)), constant_(constant) {}

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] NodeId id() const { return id_; }
  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] std::string_view type() const { return graph_.op(id_).type; }

  // Whether the operand exists and is not omitted. The functions below require it.
  [[nodiscard]] bool has(std::size_t input) const { return input < node_.inputs.size() && node_.inputs[input]; }
  [[nodiscard]] const Tensor& tensor(std::size_t input) const { return graph_.tensor(*node_.inputs[input]); }
  [[nodiscard]] std::size_t rank(std::size_t input) const { return tensor(input).shape.extents().size(); }
  [[nodiscard]] KnownExtents extents(std::size_t input) const;
  // The number of elements.
  [[nodiscard]] KnownExtent count(std::size_t input) const { return product_of(extents(input)); }

  // The content of an operand of i64 or i32 that is a constant, or is known for another reason. nullopt: it is not
  // known, or the list is longer than that of the axes of a tensor.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::size_t input) const;
  // The one element of such an operand.
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t input) const;
  // The content of a constant of f32 with at most as many elements.
  [[nodiscard]] std::optional<std::vector<float>> floats(std::size_t input) const;

 private:
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t input) const;

  const Graph& graph_;
  NodeId id_;
  const Node& node_;
  const ConstantBytes& constant_;
};

// What an operator gives from its operands.
struct Expected {
  // Per output of the node. nullopt, or none so far: nothing is known about it.
  std::vector<std::optional<KnownExtents>> results = {};
  KnownExtent count = {};                  // the elements of result 0, where its extents are not known
  std::optional<DType> dtype = {};         // of result 0, where the operator or its attributes state it
  std::optional<DType> second_dtype = {};  // of result 1
  std::string fault = {};                  // not empty: the operands contradict each other
};

[[nodiscard]] Expected expect(KnownExtents first);
[[nodiscard]] Expected expect(KnownExtents first, KnownExtents second);
// The operands are in order, and nothing is known about the results.
[[nodiscard]] Expected expect_anything();
// A result of this rank, with extents that the data decide.
[[nodiscard]] Expected expect_rank(std::size_t rank);
// "input 'w' is f32[8,3], and has to have one axis more"
[[nodiscard]] Expected misfit(const NodeFacts& facts, std::size_t input, const std::string& what);
// "the axes are not different ones"
[[nodiscard]] Expected contradiction(std::string what);

// The axis counted from the front. nullopt: it is not in [-rank, rank).
[[nodiscard]] std::optional<std::size_t> axis_of_rank(std::int64_t axis, std::size_t rank);

// What each operator gives, by the kinds of operators. Requires: the operands that the table of rules names are there.
using ExtentRule = Expected (*)(const NodeFacts& facts);

}  // namespace lowtide::kernels_internal
