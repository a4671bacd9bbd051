// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>

#include "lowtide/earlier/graphdef/node_conversion.h"
#include "lowtide/earlier/graphdef/shape_math.h"

namespace lowtide::graphdef_internal {

void convert_gather(NodeConversion& node) {
  std::optional<std::int64_t> axis = 0;
  if (node.operands.size() > 2) axis = node.types.number(2);
  const std::optional<std::size_t> index = axis ? index_of_axis(*axis, node.shape(0).size()) : std::nullopt;
  if (!index) {
    node.fault = axis ? "it has no axis " + std::to_string(*axis) : "its axis must be constant";
    return;
  }
  if (node.node().integer("batch_dims", 0) != 0) {
    node.fault = "it has batch_dims, for which there is no conversion";
    return;
  }
  node.write("Gather", {node.operands[0], node.operands[1]}, {{"axis", static_cast<std::int64_t>(*index)}});
}

void convert_gather_nd(NodeConversion& node) {
  std::string indices = node.operands[1];
  if (node.dtype(1) != DType::i64) indices = node.make("Cast", {indices}, {{"to", std::int64_t{7}}});
  node.write("GatherND", {node.operands[0], indices});
}

// Inputs: indices, depth, the value at an index and the one elsewhere. Indices out of range choose nothing, so the
// result compares each with all numbers below the depth.
void convert_one_hot(NodeConversion& node) {
  const Extents& y = node.result_shape();
  const std::int64_t given = node.node().integer("axis", -1);
  const std::optional<std::size_t> axis = index_of_axis(given, y.size());
  if (!axis) {
    node.fault = "it has no axis " + std::to_string(given);
    return;
  }
  Extents of_indices = y;
  of_indices[*axis] = 1;
  Extents of_depth(y.size(), 1);
  of_depth[*axis] = y[*axis];
  if (!may_make(node, y[*axis])) return;
  Extents numbers;
  for (std::int64_t one = 0; one < y[*axis]; ++one) numbers.push_back(one);
  // In the type of the indices, numbers below the depth could wrap around.
  std::string indices = node.operands[0];
  if (node.dtype(0) != DType::i64) indices = node.make("Cast", {indices}, {{"to", onnx_number_of(DType::i64)}});
  const std::string depth = node.reshaped(node.to.integers(numbers), of_depth);
  const std::string is_chosen = node.make("Equal", {node.reshaped(indices, of_indices), depth});
  node.write("Where", {is_chosen, node.operands[2], node.operands[3]});
}

// Inputs: the shape and the value of Fill, and in the other order of BroadcastTo.
void convert_fill(NodeConversion& node) {
  const bool is_fill = node.node().op() == "Fill";
  node.write("Expand", {node.operands[is_fill ? 1 : 0], node.to.integers(node.result_shape())});
}

void convert_like(NodeConversion& node) {
  const double value = node.node().op() == "OnesLike" ? 1 : 0;
  node.write("Expand", {node.to.number(node.result_dtype(), value), node.to.integers(node.result_shape())});
}

void convert_range(NodeConversion& node) {
  node.write("Range", {node.operands[0], node.operands[1], node.operands[2]});
}

}  // namespace lowtide::graphdef_internal
