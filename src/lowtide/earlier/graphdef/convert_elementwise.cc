// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/earlier/graphdef/format.h"
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

double real_attribute(const NodeView& node, std::string_view name, double otherwise) {
  const ProtoMessage* value = node.value(name);
  const auto bits = value == nullptr ? std::nullopt : find_number(*value, value_field::kReal);
  return bits ? std::bit_cast<float>(static_cast<std::uint32_t>(*bits)) : otherwise;
}

bool is_real(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
}

// The last node of an operator that several nodes of ONNX compute.
OnnxNode last_of(NodeConversion& node, const std::vector<std::string>& in) {
  const std::string_view op = node.node().op();
  const DType dtype = node.dtype(0);
  const auto number = [&](double value) { return node.to.number(dtype, value); };
  const auto last = [](std::string type, std::vector<std::string> inputs, std::vector<Attribute> attributes = {}) {
    return OnnxNode{
        .type = std::move(type), .inputs = std::move(inputs), .outputs = {}, .attributes = std::move(attributes)};
  };
  if (op == "Relu6") return last("Clip", {in[0], number(0), number(6)});
  if (op == "Square") return last("Mul", {in[0], in[0]});
  if (op == "Rsqrt") return last("Reciprocal", {node.make("Sqrt", {in[0]})});
  if (op == "Log1p") return last("Log", {node.make("Add", {in[0], number(1)})});
  if (op == "Expm1") return last("Sub", {node.make("Exp", {in[0]}), number(1)});
  if (op == "Erfc") return last("Sub", {number(1), node.make("Erf", {in[0]})});
  if (op == "IsFinite") {
    return last("Not", {node.make("Or", {node.make("IsNaN", {in[0]}), node.make("IsInf", {in[0]})})});
  }
  if (op == "ClipByValue") return last("Min", {node.make("Max", {in[0], in[1]}), in[2]});
  if (op == "NotEqual") return last("Not", {node.make("Equal", {in[0], in[1]})});
  if (op == "SquaredDifference") {
    const std::string difference = node.make("Sub", {in[0], in[1]});
    return last("Mul", {difference, difference});
  }
  if (op == "DivNoNan" || op == "MulNoNan") {
    const std::string is_zero = node.make("Equal", {in[1], number(0)});
    const std::string result = node.make(op == "DivNoNan" ? "Div" : "Mul", {in[0], in[1]});
    return last("Where", {is_zero, number(0), result});
  }
  if (op == "FloorMod" && !is_real(dtype)) return last("Mod", {in[0], in[1]});
  if (op == "FloorMod") {
    const std::string quotient = node.make("Floor", {node.make("Div", {in[0], in[1]})});
    return last("Sub", {in[0], node.make("Mul", {quotient, in[1]})});
  }
  if (op == "FloorDiv" && is_real(dtype)) return last("Floor", {node.make("Div", {in[0], in[1]})});
  if (op == "FloorDiv") {
    // Mod has the sign of the divisor.
    return last("Div", {node.make("Sub", {in[0], node.make("Mod", {in[0], in[1]})}), in[1]});
  }
  if (op == "TruncateDiv") return last("Div", {in[0], in[1]});
  return last("Mod", {in[0], in[1]}, {{"fmod", std::int64_t{1}}});  // Mod, TruncateMod
}

}  // namespace

void convert_unary(NodeConversion& node) {
  const std::string_view op = node.node().op();
  std::vector<Attribute> attributes;
  if (op == "LeakyRelu") attributes.push_back({"alpha", real_attribute(node.node(), "alpha", 0.2F)});
  const AlignedOperands aligned = align_operands(node);
  write_aligned(node, aligned.has_channels_first,
                {.type = onnx_name(op), .inputs = {aligned.names[0]}, .outputs = {}, .attributes = attributes});
}

void convert_binary(NodeConversion& node) {
  const AlignedOperands aligned = align_operands(node);
  write_aligned(node, aligned.has_channels_first,
                {.type = onnx_name(node.node().op()), .inputs = aligned.names, .outputs = {}});
}

void convert_composed(NodeConversion& node) {
  const AlignedOperands aligned = align_operands(node);
  write_aligned(node, aligned.has_channels_first, last_of(node, aligned.names));
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
