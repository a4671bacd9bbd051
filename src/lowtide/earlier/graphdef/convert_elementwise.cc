// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/earlier/graphdef/node_conversion.h"

namespace lowtide::graphdef_internal {
namespace {

using OpPair = std::pair<std::string_view, std::string_view>;

// Operators with another name in ONNX. All others have the same name there.
constexpr auto kOtherNames = std::to_array<OpPair>({
    {"AddV2", "Add"},
    {"BiasAdd", "Add"},
    {"BiasAddV1", "Add"},
    {"GreaterEqual", "GreaterOrEqual"},
    {"Inv", "Reciprocal"},
    {"IsInf", "IsInf"},
    {"IsNan", "IsNaN"},
    {"LessEqual", "LessOrEqual"},
    {"LogicalAnd", "And"},
    {"LogicalNot", "Not"},
    {"LogicalOr", "Or"},
    {"Maximum", "Max"},
    {"Minimum", "Min"},
    {"RealDiv", "Div"},
    {"Rint", "Round"},
});

std::string onnx_name(std::string_view op) {
  const auto* found =
      std::find_if(kOtherNames.begin(), kOtherNames.end(), [&](const OpPair& one) { return one.first == op; });
  return std::string(found == kOtherNames.end() ? op : found->second);
}

}  // namespace

void convert_unary(NodeConversion& node) {
  const std::string_view op = node.node().op();
  std::vector<Attribute> attributes;
  if (op == "LeakyRelu") attributes.push_back({"alpha", node.node().real("alpha", 0.2F)});
  const AlignedOperands aligned = align_operands(node);
  write_aligned(node, aligned.has_channels_first,
                {.type = onnx_name(op), .inputs = {aligned.names[0]}, .outputs = {}, .attributes = attributes});
}

void convert_binary(NodeConversion& node) {
  const AlignedOperands aligned = align_operands(node);
  write_aligned(node, aligned.has_channels_first,
                {.type = onnx_name(node.node().op()), .inputs = aligned.names, .outputs = {}});
}

void convert_sum_of_all(NodeConversion& node) {
  const AlignedOperands aligned = align_operands(node);
  write_aligned(node, aligned.has_channels_first, {.type = "Sum", .inputs = aligned.names, .outputs = {}});
}

void convert_bias_add(NodeConversion& node) {
  if (node.operands.size() != 2) {
    node.fault = "it must have an operand and a bias";
    return;
  }
  const Extents& x = node.shape(0);
  if (node.node().text("data_format", "NHWC").starts_with("NC") && x.size() > 2) {
    Extents of_channels(x.size() - 1, 1);
    of_channels.front() = node.shape(1).empty() ? 1 : node.shape(1).front();
    return node.write("Add", {node.operands[0], node.reshaped(node.operands[1], of_channels)});
  }
  convert_binary(node);
}

void convert_cast(NodeConversion& node) {
  const AlignedOperands aligned = align_operands(node);
  write_aligned(node, aligned.has_channels_first,
                {.type = "Cast",
                 .inputs = aligned.names,
                 .outputs = {},
                 .attributes = {{"to", onnx_number_of(node.result_dtype())}}});
}

// The condition of Select may be a list that chooses along the first axis. SelectV2 broadcasts.
void convert_select(NodeConversion& node) {
  const Extents& condition = node.shape(0);
  const std::size_t rank = node.result_shape().size();
  if (node.node().op() == "Select" && condition.size() == 1 && rank > 1) {
    Extents of_rows(rank, 1);
    of_rows.front() = condition.front();
    return node.write("Where", {node.reshaped(node.operands[0], of_rows), node.operands[1], node.operands[2]});
  }
  const AlignedOperands aligned = align_operands(node);
  write_aligned(node, aligned.has_channels_first, {.type = "Where", .inputs = aligned.names, .outputs = {}});
}

}  // namespace lowtide::graphdef_internal
