// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/earlier/conversion/element_bytes.h"
#include "lowtide/earlier/graphdef/node_conversion.h"

namespace lowtide::graphdef_internal {
namespace {

using Operands = std::vector<std::string>;

OnnxNode last(std::string type, Operands inputs, std::vector<Attribute> attributes = {}) {
  return {.type = std::move(type), .inputs = std::move(inputs), .outputs = {}, .attributes = std::move(attributes)};
}

// The remainder of a division that rounds toward zero has the sign of the dividend. One that rounds down has the sign
// of the divisor, so the two differ where a remainder that is not 0 and the divisor have different signs.
struct Remainder {
  std::string value;    // of the division toward zero
  std::string differs;  // a boolean
};

Remainder remainder_of(NodeConversion& node, const Operands& in) {
  const std::string zero = node.to.number(node.dtype(0), 0);
  const std::string value = node.make("Mod", in, {{"fmod", std::int64_t{1}}});
  const std::string is_other_sign =
      node.make("Xor", {node.make("Less", {value, zero}), node.make("Less", {in[1], zero})});
  const std::string is_rest = node.make("Not", {node.make("Equal", {value, zero})});
  return {value, node.make("And", {is_other_sign, is_rest})};
}

// TensorFlow adds the divisor to the remainder of C where the signs differ. This is exact for large quotients, and it
// has a result for an infinite divisor, while x - floor(x / y) * y has none.
OnnxNode floor_remainder(NodeConversion& node, const Operands& in) {
  if (!has_reals(node.dtype(0))) return last("Mod", in);  // has the sign of the divisor
  const Remainder rest = remainder_of(node, in);
  return last("Where", {rest.differs, node.make("Add", {rest.value, in[1]}), rest.value});
}

// The quotient of integers is corrected, because a dividend less its remainder may not fit into the type.
OnnxNode floor_quotient(NodeConversion& node, const Operands& in) {
  if (has_reals(node.dtype(0))) return last("Floor", {node.make("Div", in)});
  if (has_unsigned(node.dtype(0))) return last("Div", in);
  const Remainder rest = remainder_of(node, in);
  const std::string quotient = node.make("Div", in);
  const std::string below = node.make("Sub", {quotient, node.to.number(node.dtype(0), 1)});
  return last("Where", {rest.differs, below, quotient});
}

// A quotient of reals is rounded toward zero, as that of integers is.
OnnxNode truncated_quotient(NodeConversion& node, const Operands& in) {
  if (!has_reals(node.dtype(0))) return last("Div", in);
  const std::string quotient = node.make("Div", in);
  const std::string is_negative = node.make("Less", {quotient, node.to.number(node.dtype(0), 0)});
  return last("Where", {is_negative, node.make("Ceil", {quotient}), node.make("Floor", {quotient})});
}

// log(1 + x) loses the digits of a small x when 1 is added. The logarithm of the rounded sum u, times x / (u - 1), has
// them again (Goldberg, What Every Computer Scientist Should Know About Floating-Point Arithmetic, theorem 4).
OnnxNode log_of_one_more(NodeConversion& node, const std::string& x) {
  const std::string one = node.to.number(node.dtype(0), 1);
  const std::string sum = node.make("Add", {x, one});
  const std::string plain = node.make("Log", {sum});
  const std::string correction = node.make("Div", {x, node.make("Sub", {sum, one})});
  const std::string near_zero =
      node.make("Where", {node.make("Equal", {sum, one}), x, node.make("Mul", {plain, correction})});
  return last("Where", {node.make("Less", {x, one}), near_zero, plain});
}

// e^x - 1 = tanh(x / 2) * (e^x + 1), where nothing cancels.
OnnxNode power_less_one(NodeConversion& node, const std::string& x) {
  const std::string half = node.make("Mul", {x, node.to.number(node.dtype(0), 0.5)});
  const std::string sum = node.make("Add", {node.make("Exp", {x}), node.to.number(node.dtype(0), 1)});
  return last("Mul", {node.make("Tanh", {half}), sum});
}

// 1 - erf(x) in f64, and in the tail, where nothing is left of that, t * e^(p(t) - x^2) with t = 1 / (1 + x / 2). The
// polynomial p is that of Press et al., Numerical Recipes, section 6.2. Its relative error is at most 1.2e-7.
OnnxNode complementary_error(NodeConversion& node, const std::string& operand) {
  constexpr double kTail = 4.3;  // here both have the same error
  constexpr auto kTerms = std::to_array<double>({0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807,
                                                 -0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223});
  const auto number = [&](double value) { return node.to.number(DType::f64, value); };
  const std::string x = node.make("Cast", {operand}, {{"to", onnx_number_of(DType::f64)}});
  const std::string t = node.make("Reciprocal", {node.make("Add", {node.make("Mul", {x, number(0.5)}), number(1)})});
  std::string sum = number(kTerms.front());
  for (std::size_t at = 1; at < kTerms.size(); ++at) {
    sum = node.make("Add", {node.make("Mul", {sum, t}), number(kTerms[at])});
  }
  const std::string exponent = node.make("Sub", {sum, node.make("Mul", {x, x})});
  const std::string tail = node.make("Mul", {t, node.make("Exp", {exponent})});
  const std::string plain = node.make("Sub", {number(1), node.make("Erf", {x})});
  const std::string chosen = node.make("Where", {node.make("Less", {x, number(kTail)}), plain, tail});
  return last("Cast", {chosen}, {{"to", onnx_number_of(node.dtype(0))}});
}

// The last node of an operator that several nodes of ONNX compute.
OnnxNode last_of(NodeConversion& node, const Operands& in) {
  const std::string_view op = node.node().op();
  const auto number = [&](double value) { return node.to.number(node.dtype(0), value); };
  if (op == "Relu6") return last("Clip", {in[0], number(0), number(6)});
  if (op == "Square") return last("Mul", {in[0], in[0]});
  if (op == "Rsqrt") return last("Reciprocal", {node.make("Sqrt", {in[0]})});
  if (op == "Log1p") return log_of_one_more(node, in[0]);
  if (op == "Expm1") return power_less_one(node, in[0]);
  if (op == "Erfc") return complementary_error(node, in[0]);
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
  if (op == "FloorMod") return floor_remainder(node, in);
  if (op == "FloorDiv") return floor_quotient(node, in);
  if (op == "TruncateDiv") return truncated_quotient(node, in);
  return last("Mod", {in[0], in[1]}, {{"fmod", std::int64_t{1}}});  // Mod, TruncateMod
}

}  // namespace

void convert_composed(NodeConversion& node) {
  const AlignedOperands aligned = align_operands(node);
  write_aligned(node, aligned.has_channels_first, last_of(node, aligned.names));
}

}  // namespace lowtide::graphdef_internal
