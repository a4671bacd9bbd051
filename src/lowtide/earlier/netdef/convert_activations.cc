// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "lowtide/earlier/netdef/format.h"
#include "lowtide/earlier/netdef/infer.h"
#include "lowtide/earlier/netdef/op_conversion.h"

namespace lowtide::netdef_internal {
namespace {

using TypePair = std::pair<std::string_view, std::string_view>;

// Operators with another name in ONNX.
constexpr auto kOnnxTypes = std::to_array<TypePair>({
    {"EQ", "Equal"},
    {"GE", "GreaterOrEqual"},
    {"GT", "Greater"},
    {"LE", "LessOrEqual"},
    {"LT", "Less"},
    {"Negative", "Neg"},
});

std::string onnx_type(std::string_view type) {
  const auto* found =
      std::find_if(kOnnxTypes.begin(), kOnnxTypes.end(), [&](const TypePair& one) { return one.first == type; });
  return std::string(found == kOnnxTypes.end() ? type : found->second);
}

// The second operand of an operator with `broadcast`: it is as the axes of the first from `axis` on, by default as the
// last ones.
std::optional<std::string> broadcast_operand(OpConversion& op) {
  const auto& a = op.shape(0);
  const auto& b = op.shape(1);
  if (op.op.integer("broadcast", 0) == 0 || b.empty()) return op.operands[1];
  const std::string_view letter = op.op.text("axis_str", "");
  const std::size_t named = letter.size() == 1 ? op.op.text("order", "NCHW").find(letter) : std::string_view::npos;
  std::int64_t axis = named == std::string_view::npos ? op.op.integer("axis", -1) : static_cast<std::int64_t>(named);
  if (axis < 0) axis = static_cast<std::int64_t>(a.size()) - static_cast<std::int64_t>(b.size());
  const std::int64_t behind = static_cast<std::int64_t>(a.size()) - axis - static_cast<std::int64_t>(b.size());
  if (axis < 0 || behind < 0) {
    op.fault = "its second input does not fit the axes from " + std::to_string(axis) + " on";
    return std::nullopt;
  }
  if (behind == 0) return op.operands[1];
  std::vector<std::int64_t> extents = b;
  extents.insert(extents.end(), static_cast<std::size_t>(behind), 1);
  return op.reshaped(op.operands[1], extents);
}

}  // namespace

void convert_same_name(OpConversion& op) {
  std::vector<Attribute> attributes;
  const std::string_view type = op.op.type();
  if (type == "LeakyRelu") attributes.push_back({"alpha", op.real("alpha", 0.01F)});
  if (type == "Elu") attributes.push_back({"alpha", op.real("alpha", 1)});
  if (type == "Selu") {
    attributes = {{"alpha", op.real("alpha", 1.6732632423543772848170429916717F)},
                  {"gamma", op.real("scale", 1.0507009873554804934193349852946F)}};
  }
  op.write(onnx_type(type), op.operands, std::move(attributes));
}

void convert_composed_op(OpConversion& op) {
  const std::string& x = op.operands[0];
  const std::string_view type = op.op.type();
  if (type == "Sqr") return op.write("Mul", {x, x});
  if (type == "Rsqrt") return op.write("Reciprocal", {op.make("Sqrt", {x})});
  if (type == "Swish") return op.write("Mul", {x, op.make("Sigmoid", {x})});
  op.write("Mul", {x, op.number("scale", 1, op.dtype())});  // Scale
}

void convert_arithmetic(OpConversion& op) {
  const std::string_view type = op.op.type();
  if (type == "Pow" && op.operands.size() == 1) {
    return op.write("Pow", {op.operands[0], op.number("exponent", 0, op.dtype())});
  }
  if (op.operands.size() != 2) {
    op.fault = "it must have two inputs";
    return;
  }
  const std::optional<std::string> second = broadcast_operand(op);
  if (!second) return;
  if (type == "NE") return op.write("Not", {op.make("Equal", {op.operands[0], *second})});
  op.write(onnx_type(type), {op.operands[0], *second});
}

void convert_clip(OpConversion& op) {
  const auto bound = [&](std::string_view name) {
    return op.op.argument(name) == nullptr ? std::string() : op.number(name, 0, op.dtype());
  };
  op.write("Clip", {op.operands[0], bound("min"), bound("max")});
}

// One slope, or one for each channel.
void convert_prelu(OpConversion& op) {
  if (op.operands.size() < 2) {
    op.fault = "it has no slopes";
    return;
  }
  const auto& slopes = op.shape(1);
  const std::size_t rank = op.shape(0).size();
  std::string slope = op.operands[1];
  if (!op.is_last() && slopes.size() == 1 && slopes[0] != 1 && rank > 2) {
    std::vector<std::int64_t> of_channels(rank - 1, 1);
    of_channels.front() = slopes[0];
    slope = op.reshaped(slope, of_channels);
  }
  op.write("PRelu", {op.operands[0], slope});
}

// Inputs: a tensor and its weight, again and again.
void convert_weighted_sum(OpConversion& op) {
  if (op.operands.size() % 2 != 0) {
    op.fault = "each input needs a weight";
    return;
  }
  std::vector<std::string> parts;
  for (std::size_t at = 0; at + 1 < op.operands.size(); at += 2) {
    parts.push_back(op.make("Mul", {op.operands[at], op.reshaped(op.operands[at + 1], {})}));
  }
  op.write("Sum", parts);
}

void convert_copy(OpConversion& op) {
  for (std::size_t at = 0; at < op.results.size() && at < op.operands.size(); ++at) {
    op.to.add({.type = "Identity", .inputs = {op.operands[at]}, .outputs = {op.results[at]}});
  }
}

void convert_cast_op(OpConversion& op) {
  op.write("Cast", {op.operands[0]}, {{"to", onnx_number_of(op.outputs[0].dtype)}});
}

}  // namespace lowtide::netdef_internal
