// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/enum_names.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/c_source/graph_program/axes.h"
#include "lowtide/c_source/graph_program/rules.h"

namespace lowtide::graph_program_internal {
namespace {

constexpr std::size_t kBroadcastAxes = 4;

NodeCall unary_call(const NodeFacts& node, std::string kernel) {
  Parameters parameters;
  parameters.add("count", product(node.output_shape(0)));
  return {std::move(kernel), parameters.take(), {InputAt{0}, OutputAt{0}}};
}

NodeCall call_with_numbers(const NodeFacts& node, std::string kernel, float a, float b) {
  Parameters parameters;
  parameters.add("count", product(node.output_shape(0))).add_float("a", a).add_float("b", b);
  return {std::move(kernel), parameters.take(), {InputAt{0}, OutputAt{0}}};
}

// An operator of one operand that is the kernel of the same name: "Relu" is relu_f32, "HardSwish" is hard_swish_f32.
Result<NodeCalls> plain_unary(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0}));
  std::string kernel;
  for (char letter : node.type()) {
    const bool is_upper = letter >= 'A' && letter <= 'Z';
    if (is_upper && !kernel.empty()) kernel += '_';
    kernel += is_upper ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return NodeCalls{{unary_call(node, kernel + "_f32")}};
}

// An operator with up to two numbers as attributes.
struct NumbersRow {
  std::string_view type;
  std::string_view kernel;
  std::string_view a;
  double default_a;
  std::string_view b;
  double default_b;
};
constexpr auto kNumbersRows = std::to_array<NumbersRow>({
    {"Celu", "celu_f32", "alpha", 1, "", 0},
    {"Elu", "elu_f32", "alpha", 1, "", 0},
    {"HardSigmoid", "hard_sigmoid_f32", "alpha", 0.2, "beta", 0.5},
    {"LeakyRelu", "leaky_relu_f32", "alpha", 0.01, "", 0},
    {"Selu", "selu_f32", "alpha", 1.67326319217681884765625, "gamma", 1.05070102214813232421875},
    {"Shrink", "shrink_f32", "bias", 0, "lambd", 0.5},
    {"Swish", "swish_f32", "alpha", 1, "", 0},
    {"ThresholdedRelu", "thresholded_relu_f32", "alpha", 1, "", 0},
});

Result<NodeCalls> with_numbers(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0}));
  const auto* row = std::ranges::find(kNumbersRows, node.type(), &NumbersRow::type);
  NodeCall call = call_with_numbers(node, std::string(row->kernel), node.number(row->a, row->default_a),
                                    node.number(row->b, row->default_b));
  if (row->b.empty()) call.parameters.pop_back();
  return NodeCalls{{std::move(call)}};
}

Result<NodeCalls> gelu(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0}));
  return NodeCalls{{unary_call(node, node.text("approximate", "none") == "tanh" ? "gelu_tanh_f32" : "gelu_f32")}};
}

// A limit of a Clip: an attribute in older opsets. nullopt: it is not a constant.
std::optional<float> limit_of(const NodeFacts& node, std::size_t input, std::string_view attribute, float otherwise) {
  if (!node.has_input(input)) return node.number(attribute, otherwise);
  const std::optional<std::vector<float>> content = node.constant_floats(input);
  if (!content || content->size() != 1) return std::nullopt;
  return content->front();
}

Result<NodeCalls> clip(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0}));
  const std::optional<float> least = limit_of(node, 1, "min", -FLT_MAX);
  const std::optional<float> most = limit_of(node, 2, "max", FLT_MAX);
  if (!least || !most) return missing("a limit is not a constant");
  return NodeCalls{{call_with_numbers(node, "clip_f32", *least, *most)}};
}

Result<NodeCalls> logical_not(const NodeFacts& node) { return NodeCalls{{unary_call(node, "not_u8")}}; }

std::string_view cast_name(DType dtype) {
  switch (dtype) {
    case DType::f32: return "f32";
    case DType::i64: return "i64";
    case DType::i32: return "i32";
    case DType::u8: return "u8";
    case DType::boolean: return "bool";
    default: return "";
  }
}

Result<NodeCalls> cast(const NodeFacts& node) {
  const DType from = node.input(0).dtype;
  const DType to = node.output(0).dtype;
  if (from == to) return NodeCalls{{copy_call(node.output(0).size, InputAt{0}, OutputAt{0})}};
  const std::string_view from_name = cast_name(from);
  const std::string_view to_name = cast_name(to);
  if (from_name.empty() || to_name.empty()) {
    return missing("no kernel of C converts " + std::string(to_string(from)) + " to " + std::string(to_string(to)));
  }
  return NodeCalls{{unary_call(node, "cast_" + std::string(from_name) + "_" + std::string(to_name))}};
}

struct Operands {
  std::size_t x = 0;
  std::size_t y = 1;
};

Result<NodeCall> broadcast_call(const NodeFacts& node, std::string kernel, Operands at = {}) {
  const Extents& result = node.output_shape(0);
  const std::optional<Loops> loops = with_axes(
      merged(
          {result, {broadcast_steps(node.input_shape(at.x), result), broadcast_steps(node.input_shape(at.y), result)}}),
      kBroadcastAxes);
  if (!loops) return missing("operands are broadcast along more than " + std::to_string(kBroadcastAxes) + " axes");
  Parameters parameters;
  parameters.add("counts", loops->counts).add("x_steps", loops->steps[0]).add("y_steps", loops->steps[1]);
  return NodeCall{std::move(kernel), parameters.take(), {InputAt{at.x}, InputAt{at.y}, OutputAt{0}}};
}

// An operator of two operands.
struct BinaryRow {
  std::string_view type;
  std::string_view kernel;
  std::string_view types;  // of the operands, beside f32
  bool swaps = false;      // a > b is b < a
};
constexpr auto kBinaryRows = std::to_array<BinaryRow>({
    {"Add", "add", "i64"},
    {"And", "and", "u8"},
    {"Div", "divide", ""},
    {"Equal", "equal", "i64"},
    {"Greater", "less", "i64", true},
    {"GreaterOrEqual", "less_or_equal", "i64", true},
    {"Less", "less", "i64"},
    {"LessOrEqual", "less_or_equal", "i64"},
    {"Mul", "multiply", "i64"},
    {"Or", "or", "u8"},
    {"PRelu", "prelu", ""},
    {"Sub", "subtract", "i64"},
    {"Xor", "xor", "u8"},
});

// The type in the name of a kernel. Empty: no kernel of this operator has such operands.
std::string_view kernel_type(DType dtype, const BinaryRow& row) {
  if (row.types == "u8") return dtype == DType::boolean ? "u8" : "";
  if (dtype == DType::f32) return "f32";
  return dtype == DType::i64 && row.types == "i64" ? "i64" : "";
}

Result<NodeCalls> binary(const NodeFacts& node) {
  const auto* row = std::ranges::find(kBinaryRows, node.type(), &BinaryRow::type);
  const DType dtype = node.input(0).dtype;
  const std::string_view type = kernel_type(dtype, *row);
  if (type.empty()) return missing("no kernel of C has operands of " + std::string(to_string(dtype)));
  const Operands operands = row->swaps ? Operands{1, 0} : Operands{0, 1};
  LOWTIDE_TRY(NodeCall call, broadcast_call(node, std::string(row->kernel) + "_" + std::string(type), operands));
  return NodeCalls{{std::move(call)}};
}

Result<NodeCalls> modulo(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0, 1}));
  LOWTIDE_TRY(NodeCall call, broadcast_call(node, "modulo_f32"));
  return NodeCalls{{std::move(call)}};
}

// Squares and roots are frequent, and much faster than other powers.
Result<NodeCalls> power(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0, 1}));
  const std::optional<std::vector<float>> exponent = node.constant_floats(1);
  if (exponent && exponent->size() == 1 && node.input_shape(0) == node.output_shape(0)) {
    if (exponent->front() == 2.0F) {
      LOWTIDE_TRY(NodeCall call, broadcast_call(node, "multiply_f32", {0, 0}));
      return NodeCalls{{std::move(call)}};
    }
    if (exponent->front() == 0.5F) return NodeCalls{{unary_call(node, "power_half_f32")}};
  }
  LOWTIDE_TRY(NodeCall call, broadcast_call(node, "power_f32"));
  return NodeCalls{{std::move(call)}};
}

// Operators of any number of operands: the first two, and then the result with each of the others.
struct VariadicRow {
  std::string_view type;
  std::string_view kernel;
};
constexpr auto kVariadicRows = std::to_array<VariadicRow>(
    {{"Max", "maximum_f32"}, {"Mean", "add_f32"}, {"Min", "minimum_f32"}, {"Sum", "add_f32"}});

Result<NodeCall> call_with_result(const NodeFacts& node, std::string kernel, std::size_t input) {
  const Extents& result = node.output_shape(0);
  const std::optional<Loops> loops = with_axes(
      merged({result, {dense_steps(result), broadcast_steps(node.input_shape(input), result)}}), kBroadcastAxes);
  if (!loops) return missing("operands are broadcast along more than " + std::to_string(kBroadcastAxes) + " axes");
  Parameters parameters;
  parameters.add("counts", loops->counts).add("x_steps", loops->steps[0]).add("y_steps", loops->steps[1]);
  return NodeCall{std::move(kernel), parameters.take(), {OutputAt{0}, InputAt{input}, OutputAt{0}}};
}

Result<NodeCalls> variadic(const NodeFacts& node) {
  const std::size_t count = node.node().inputs.size();
  for (std::size_t at = 0; at < count; ++at) LOWTIDE_RETURN_IF_ERROR(node.check_floats({at}));
  const auto* row = std::ranges::find(kVariadicRows, node.type(), &VariadicRow::type);
  const std::string kernel(row->kernel);
  NodeCalls calls;
  if (count == 1) {
    calls.calls.push_back(copy_call(node.output(0).size, InputAt{0}, OutputAt{0}));
    return calls;
  }
  LOWTIDE_TRY(NodeCall first, broadcast_call(node, kernel));
  calls.calls.push_back(std::move(first));
  for (std::size_t at = 2; at < count; ++at) {
    LOWTIDE_TRY(NodeCall next, call_with_result(node, kernel, at));
    calls.calls.push_back(std::move(next));
  }
  if (node.type() == "Mean") {
    NodeCall divided = call_with_numbers(node, "affine_f32", 1.0F / static_cast<float>(count), 0);
    divided.operands[0] = OutputAt{0};
    calls.calls.push_back(std::move(divided));
  }
  return calls;
}

Result<NodeCalls> where(const NodeFacts& node) {
  const DType dtype = node.output(0).dtype;
  if (dtype != DType::f32 && dtype != DType::i64) {
    return missing("no kernel of C has operands of " + std::string(to_string(dtype)));
  }
  const Extents& result = node.output_shape(0);
  Loops loops{result, {}};
  for (std::size_t at = 0; at < 3; ++at) loops.steps.push_back(broadcast_steps(node.input_shape(at), result));
  const std::optional<Loops> all = with_axes(merged(loops), kBroadcastAxes);
  if (!all) return missing("operands are broadcast along more than " + std::to_string(kBroadcastAxes) + " axes");
  Parameters parameters;
  parameters.add("counts", all->counts)
      .add("condition_steps", all->steps[0])
      .add("x_steps", all->steps[1])
      .add("y_steps", all->steps[2]);
  return NodeCalls{{{dtype == DType::f32 ? "where_f32" : "where_i64",
                     parameters.take(),
                     {InputAt{0}, InputAt{1}, InputAt{2}, OutputAt{0}}}}};
}

constexpr auto kElementwiseRules = std::to_array<Rule>({
    {"Abs", &plain_unary},
    {"Acos", &plain_unary},
    {"Add", &binary},
    {"And", &binary},
    {"Asin", &plain_unary},
    {"Atan", &plain_unary},
    {"Cast", &cast},
    {"Ceil", &plain_unary},
    {"Celu", &with_numbers},
    {"Clip", &clip},
    {"Cos", &plain_unary},
    {"Cosh", &plain_unary},
    {"Div", &binary},
    {"Elu", &with_numbers},
    {"Equal", &binary},
    {"Erf", &plain_unary},
    {"Exp", &plain_unary},
    {"Floor", &plain_unary},
    {"Gelu", &gelu},
    {"Greater", &binary},
    {"GreaterOrEqual", &binary},
    {"HardSigmoid", &with_numbers},
    {"HardSwish", &plain_unary},
    {"LeakyRelu", &with_numbers},
    {"Less", &binary},
    {"LessOrEqual", &binary},
    {"Log", &plain_unary},
    {"Max", &variadic},
    {"Mean", &variadic},
    {"Min", &variadic},
    {"Mish", &plain_unary},
    {"Mod", &modulo},
    {"Mul", &binary},
    {"Neg", &plain_unary},
    {"Not", &logical_not},
    {"Or", &binary},
    {"PRelu", &binary},
    {"Pow", &power},
    {"Reciprocal", &plain_unary},
    {"Relu", &plain_unary},
    {"Round", &plain_unary},
    {"Selu", &with_numbers},
    {"Shrink", &with_numbers},
    {"Sigmoid", &plain_unary},
    {"Sign", &plain_unary},
    {"Sin", &plain_unary},
    {"Sinh", &plain_unary},
    {"Softplus", &plain_unary},
    {"Softsign", &plain_unary},
    {"Sqrt", &plain_unary},
    {"Sub", &binary},
    {"Sum", &variadic},
    {"Swish", &with_numbers},
    {"Tan", &plain_unary},
    {"Tanh", &plain_unary},
    {"ThresholdedRelu", &with_numbers},
    {"Where", &where},
    {"Xor", &binary},
});

}  // namespace

std::span<const Rule> elementwise_rules() { return kElementwiseRules; }

}  // namespace lowtide::graph_program_internal
