// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/earlier/graphdef/node_conversion.h"
#include "lowtide/earlier/graphdef/shape_math.h"

namespace lowtide::graphdef_internal {
namespace {

// All and Any are the least and the largest element.
constexpr auto kReductions = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"All", "ReduceMin"},
    {"Any", "ReduceMax"},
    {"EuclideanNorm", "ReduceL2"},
    {"Max", "ReduceMax"},
    {"Mean", "ReduceMean"},
    {"Min", "ReduceMin"},
    {"Prod", "ReduceProd"},
    {"Sum", "ReduceSum"},
});

// The axes that an operand lists, without repetitions. nullopt, with a fault, if they are not known.
std::optional<Extents> reduced_axes(NodeConversion& node, std::size_t operand) {
  const Extents* given = node.known(operand, "axes");
  if (given == nullptr) return std::nullopt;
  Extents axes;
  for (std::int64_t axis : *given) {
    const std::optional<std::size_t> index = index_of_axis(axis, node.shape(0).size());
    if (!index) {
      node.fault = "it has no axis " + std::to_string(axis);
      return std::nullopt;
    }
    axes.push_back(static_cast<std::int64_t>(*index));
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

// An operand with its last two axes in the other order, if an attribute says so.
std::string maybe_transposed(NodeConversion& node, std::size_t operand, std::string_view attribute) {
  if (!node.node().is_set(attribute)) return node.operands[operand];
  Extents axes;
  for (std::size_t axis = 0; axis < node.shape(operand).size(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  if (axes.size() >= 2) std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return node.make("Transpose", {node.operands[operand]}, {{"perm", axes}});
}

}  // namespace

// Over the spatial axes of an image whose channels are first, the result without these axes is the same, and with them
// is in the same order.
void convert_reduction(NodeConversion& node) {
  const std::string_view op = node.node().op();
  std::optional<Extents> axes = reduced_axes(node, 1);
  if (!axes) return;
  if (axes->empty()) return node.write(op == "EuclideanNorm" ? "Abs" : "Identity", {node.operands[0]});
  const auto* found =
      std::find_if(kReductions.begin(), kReductions.end(), [&](const auto& one) { return one.first == op; });
  const std::size_t rank = node.shape(0).size();
  const bool keeps = node.node().is_set("keep_dims");
  const bool is_spatial = axes->front() > 0 && axes->back() + 1 < static_cast<std::int64_t>(rank);
  const bool is_first =
      node.to.has_channels_first(node.operands[0]) && (keeps || (is_spatial && axes->size() + 2 == rank));
  std::string x = node.operands[0];
  if (is_first) {
    x = node.to.channels_first(x, rank);
    for (std::int64_t& axis : *axes) axis = axis_in_first(axis, rank);
  }
  write_aligned(node, is_first && keeps,
                {.type = std::string(found->second),
                 .inputs = {x, node.to.integers(*axes)},
                 .outputs = {},
                 .attributes = {{"keepdims", std::int64_t{keeps ? 1 : 0}}}});
}

void convert_arg_reduction(NodeConversion& node) {
  const std::optional<Extents> axes = reduced_axes(node, 1);
  if (!axes) return;
  if (axes->size() != 1) {
    node.fault = "it must have one axis";
    return;
  }
  const std::vector<Attribute> attributes = {{"axis", axes->front()}, {"keepdims", std::int64_t{0}}};
  const std::string type(node.node().op());
  if (node.result_dtype() == DType::i64) return node.write(type, {node.operands[0]}, attributes);
  node.write("Cast", {node.make(type, {node.operands[0]}, attributes)}, {{"to", std::int64_t{6}}});
  if (node.result_dtype() != DType::i32) node.fault = "its indices are neither int32 nor int64";
}

// Along the last axis, which is the one of the channels.
void convert_softmax(NodeConversion& node) {
  const AlignedOperands aligned = align_operands(node);
  write_aligned(node, aligned.has_channels_first,
                {.type = std::string(node.node().op()),
                 .inputs = aligned.names,
                 .outputs = {},
                 .attributes = {{"axis", std::int64_t{aligned.has_channels_first ? 1 : -1}}}});
}

void convert_cumsum(NodeConversion& node) {
  const std::optional<Extents> axes = reduced_axes(node, 1);
  if (!axes) return;
  if (axes->size() != 1) {
    node.fault = "it must have one axis";
    return;
  }
  node.write("CumSum", {node.operands[0], node.to.number(DType::i64, static_cast<double>(axes->front()))},
             {{"exclusive", std::int64_t{node.node().is_set("exclusive") ? 1 : 0}},
              {"reverse", std::int64_t{node.node().is_set("reverse") ? 1 : 0}}});
}

void convert_top_k(NodeConversion& node) {
  const Extents* count = node.known(1, "number of elements");
  if (count == nullptr) return;
  const std::string values = node.to.fresh(node.results[0] + "/values");
  const std::string indices = node.to.fresh(node.results[0] + "/indices");
  node.to.add({.type = "TopK",
               .inputs = {node.operands[0], node.to.integers(*count)},
               .outputs = {values, indices},
               .attributes = {{"axis", std::int64_t{-1}}}});
  node.write("Identity", {values});
  if (node.results.size() < 2) return;
  const bool is_long = node.types.outputs[1].dtype == DType::i64;
  node.to.add({.type = "Cast",
               .inputs = {indices},
               .outputs = {node.results[1]},
               .attributes = {{"to", std::int64_t{is_long ? 7 : 6}}}});
}

void convert_mat_mul(NodeConversion& node) {
  const bool first = node.node().is_set("transpose_a");
  const bool second = node.node().is_set("transpose_b");
  if (!first && !second) return node.write("MatMul", {node.operands[0], node.operands[1]});
  node.write("Gemm", {node.operands[0], node.operands[1]},
             {{"transA", std::int64_t{first ? 1 : 0}}, {"transB", std::int64_t{second ? 1 : 0}}});
}

void convert_batch_mat_mul(NodeConversion& node) {
  node.write("MatMul", {maybe_transposed(node, 0, "adj_x"), maybe_transposed(node, 1, "adj_y")});
}

void convert_einsum(NodeConversion& node) {
  node.write("Einsum", node.operands, {{"equation", std::string(node.node().text("equation", ""))}});
}

}  // namespace lowtide::graphdef_internal
