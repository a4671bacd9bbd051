// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/load/quantized_operators.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/import/onnx/load/expansion.h"
#include "lowtide/import/onnx/load/fresh_names.h"
#include "lowtide/import/onnx/proto/attributes.h"
#include "lowtide/import/onnx/proto/text.h"

namespace lowtide::import_internal {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

constexpr const char* kRuntimeDomain = "com.microsoft";
constexpr int kOpsetOfParts = 15;     // of the nodes that replace an operator; the first with CastLike
constexpr int kOpsetOfStandard = 21;  // of an operator that the standard took over; the first with 16 bits

// An operator that computes on dequantized operands: each has three inputs, for integers, scale and zero point.
struct QuantizedRow {
  std::string_view type;
  const char* core;                          // the operator on real numbers
  std::vector<int> operands;                 // the inputs that have integers
  int result_scale;                          // the input that has the scale of the result, before its zero point
  std::vector<std::string_view> attributes;  // of the core
  bool begins_with_condition = false;        // the first input is one of the core
};

const std::vector<QuantizedRow>& quantized_rows() {
  static const std::vector<QuantizedRow> rows = {
      {"QLinearAdd", "Add", {0, 3}, 6, {}},
      {"QLinearAveragePool",
       "AveragePool",
       {0},
       3,
       {"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"}},
      {"QLinearConcat", "Concat", {}, 0, {"axis"}},  // any number of operands behind the result's parameters
      {"QLinearGlobalAveragePool", "GlobalAveragePool", {0}, 3, {}},
      {"QLinearLeakyRelu", "LeakyRelu", {0}, 3, {"alpha"}},
      {"QLinearMul", "Mul", {0, 3}, 6, {}},
      {"QLinearReduceMean", "ReduceMean", {0}, 3, {"axes", "keepdims"}},
      {"QLinearSigmoid", "Sigmoid", {0}, 3, {}},
      {"QLinearSoftmax", "Softmax", {0}, 3, {"axis"}},
      {"QLinearWhere", "Where", {1, 4}, 7, {}, true},
  };
  return rows;
}

// Whether standard operators can replace the node.
bool has_standard_form(const NodeProto& node) {
  if (integer_or(node, "channels_last", 0) != 0) return false;
  // Before opset 13, all axes from `axis` on were one.
  return node.op_type() != "QLinearSoftmax" || integer_or(node, "opset", 13) >= 13 ||
         integer_or(node, "axis", -1) == -1;
}

Error missing_input(const NodeProto& node, int at) {
  return {ErrorCode::invalid, "input " + std::to_string(at) + " is missing",
          "node " + quoted(node.name()) + " (" + operator_name(node) + ")"};
}

Result<void> check_inputs(const NodeProto& node, std::span<const int> needed) {
  for (int at : needed) {
    if (!has_input(node, at)) return missing_input(node, at);
  }
  return {};
}

// The zero point of the result, which is input `at`. If it is omitted, it is zero, in the type of the integers of input
// `integers`. A QuantizeLinear without a zero point would make u8 of any of them.
std::string result_zero(Expansion& out, int at, int integers) {
  const NodeProto& node = out.node();
  if (has_input(node, at)) return out.as_number(node.input(at));
  const std::string zero = out.add("Constant", {}, {float_attribute_of("value_float", 0)});
  const int like = has_input(node, integers + 2) ? integers + 2 : integers;  // the type of a constant is enough
  return out.add("CastLike", {zero, node.input(like)});
}

Result<void> expand_row(const QuantizedRow& row, Expansion& out) {
  const NodeProto& node = out.node();
  std::vector<int> operands = row.operands;
  for (int at = 2; row.type == "QLinearConcat" && at < node.input_size(); at += 3) operands.push_back(at);
  std::vector<int> needed = {row.result_scale};
  if (row.begins_with_condition) needed.push_back(0);
  for (int at : operands) needed.insert(needed.end(), {at, at + 1});
  LOWTIDE_RETURN_IF_ERROR(check_inputs(node, needed));
  if (operands.empty()) return missing_input(node, 2);
  std::vector<std::string> reals;
  if (row.begins_with_condition) reals.push_back(node.input(0));
  for (int at : operands) reals.push_back(out.add_real(at));
  std::vector<AttributeProto> attributes;
  for (std::string_view name : row.attributes) {
    if (const AttributeProto* given = attribute_of(node, name)) attributes.push_back(*given);
  }
  const std::string result = out.add(row.core, std::move(reals), std::move(attributes));
  const std::string zero = result_zero(out, row.result_scale + 1, operands.front());
  out.add("QuantizeLinear", {result, out.as_number(node.input(row.result_scale)), zero}, {}, node.output(0));
  return {};
}

// a, its scale and zero point, the same of b, c, and the scale and zero point of the result. c counts in units of
// alpha times the scales of a and b. Without a scale of the result, it is real.
Result<void> expand_gemm(Expansion& out) {
  const NodeProto& node = out.node();
  LOWTIDE_RETURN_IF_ERROR(check_inputs(node, std::array{0, 1, 3, 4}));
  const bool is_transposed = integer_or(node, "transB", 0) != 0;
  const AttributeProto* alpha = attribute_of(node, "alpha");
  std::vector<std::string> inputs = {out.add_real(0),
                                     out.add_real(3, {integer_attribute_of("axis", is_transposed ? 0 : 1)})};
  if (has_input(node, 6)) {
    std::string scale = out.add("Mul", {out.as_number(node.input(1)), out.as_number(node.input(4))});
    if (alpha != nullptr) {
      scale = out.add("Mul", {scale, out.add("Constant", {}, {float_attribute_of("value_float", alpha->f())})});
    }
    const std::string real = out.add("Cast", {node.input(6)}, {integer_attribute_of("to", TensorProto::FLOAT)});
    inputs.push_back(out.add("Mul", {real, scale}));
  }
  std::vector<AttributeProto> attributes;
  for (std::string_view name : {"alpha", "transA", "transB"}) {
    if (const AttributeProto* given = attribute_of(node, name)) attributes.push_back(*given);
  }
  const bool is_real = !has_input(node, 7);
  const std::string result =
      out.add("Gemm", std::move(inputs), std::move(attributes), is_real ? node.output(0) : std::string());
  if (is_real) return {};
  const std::string zero = result_zero(out, 8, 0);
  out.add("QuantizeLinear", {result, out.as_number(node.input(7)), zero}, {}, node.output(0));
  return {};
}

// The names of two operands of integers, of their zero points, of the product of their scales, and of a bias; "": none.
struct IntegerProduct {
  std::string a;
  std::string a_zero;
  std::string b;
  std::string b_zero;
  std::string scale;
  std::string bias;
};

void add_product(const IntegerProduct& of, Expansion& out) {
  const std::string integers = out.add("MatMulInteger", {of.a, of.b, of.a_zero, of.b_zero});
  const std::string sums = out.add("Cast", {integers}, {integer_attribute_of("to", TensorProto::FLOAT)});
  const std::string& result = out.node().output(0);
  if (of.bias.empty()) {
    out.add("Mul", {sums, of.scale}, {}, result);
  } else {
    out.add("Add", {out.add("Mul", {sums, of.scale}), of.bias}, {}, result);
  }
}

// a (real), b, its scale, its zero point, and a bias.
Result<void> expand_dynamic_product(Expansion& out) {
  const NodeProto& node = out.node();
  LOWTIDE_RETURN_IF_ERROR(check_inputs(node, std::array{0, 1, 2}));
  IntegerProduct product{.b = node.input(1), .b_zero = out.as_number(input_of(node, 3)), .bias = input_of(node, 4)};
  product.a = out.add("DynamicQuantizeLinear", {node.input(0)});
  const std::string a_scale = out.add_result("scale");
  product.a_zero = out.add_result("zero");
  product.scale = out.add("Mul", {a_scale, out.as_number(node.input(2))});
  add_product(product, out);
  return {};
}

// a, b, the scales of both, their zero points, and a bias.
Result<void> expand_real_product(Expansion& out) {
  const NodeProto& node = out.node();
  LOWTIDE_RETURN_IF_ERROR(check_inputs(node, std::array{0, 1, 2, 3}));
  IntegerProduct product{.a = node.input(0), .b = node.input(1), .bias = input_of(node, 6)};
  product.scale = out.add("Mul", {out.as_number(node.input(2)), out.as_number(node.input(3))});
  product.a_zero = out.as_number(input_of(node, 4));
  product.b_zero = out.as_number(input_of(node, 5));
  add_product(product, out);
  return {};
}

// The weights of an LSTM: integers of [directions, inputs, 4 * hidden], with a scale and a zero point per direction or
// per direction and column. The LSTM of the standard has the last two axes in the other order.
Result<std::string> real_weights(int weights, int scale_at, Expansion& out) {
  const NodeProto& node = out.node();
  const TensorProto* scale = out.constant(node.input(scale_at));
  if (scale == nullptr) {
    return Error{ErrorCode::unsupported,
                 "input " + quoted(node.input(scale_at)) + ", a scale of weights, is no constant",
                 "node " + quoted(node.name()) + " (" + operator_name(node) + ")"};
  }
  const std::vector<std::int64_t> axes =
      scale->dims_size() == 2 ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{1, 2};
  const std::string places = out.add("Constant", {}, {integers_attribute_of("value_ints", axes)});
  const std::vector<AttributeProto> to_real = {integer_attribute_of("to", TensorProto::FLOAT)};
  std::string real = out.add("Cast", {node.input(weights)}, to_real);
  if (has_input(node, scale_at + 1)) {
    const std::string zero = out.add("Cast", {node.input(scale_at + 1)}, to_real);
    real = out.add("Sub", {real, out.add("Unsqueeze", {zero, places})});
  }
  real = out.add("Mul", {real, out.add("Unsqueeze", {node.input(scale_at), places})});
  constexpr std::array<std::int64_t, 3> kSwapped = {0, 2, 1};
  return out.add("Transpose", {real}, {integers_attribute_of("perm", kSwapped)});
}

Result<void> expand_lstm(Expansion& out) {
  constexpr std::array<std::string_view, 7> kAttributes = {"activation_alpha", "activation_beta", "activations", "clip",
                                                           "direction",        "hidden_size",     "input_forget"};
  const NodeProto& node = out.node();
  LOWTIDE_RETURN_IF_ERROR(check_inputs(node, std::array{0, 1, 2, 8, 10}));
  LOWTIDE_TRY(const std::string w, real_weights(1, 8, out));
  LOWTIDE_TRY(const std::string r, real_weights(2, 10, out));
  NodeProto& lstm = out.add_like("LSTM", kAttributes);
  lstm.add_input(node.input(0));
  lstm.add_input(w);
  lstm.add_input(r);
  for (int at = 3; at < 8; ++at) lstm.add_input(input_of(node, at));
  return {};
}

// An operator that the standard took over with all its inputs.
bool is_standard_now(const NodeProto& node) {
  return node.op_type() == "QuantizeLinear" || node.op_type() == "DequantizeLinear" || node.op_type() == "QLinearConv";
}

class QuantizedOperators {
 public:
  explicit QuantizedOperators(OpsetScopes& opsets) : opsets_(opsets) {}

  Result<void> run(GraphProto& main) {
    if (!has_any(main)) return {};
    names_.reserve_all(main);
    return rewrite(main);
  }

 private:
  [[nodiscard]] bool is_replaced(const NodeProto& node) const {
    if (node.domain() != kRuntimeDomain || !opsets_.of(node).contains(kRuntimeDomain)) return false;
    if (node.output_size() == 0 || !has_standard_form(node)) return false;
    const bool has_row =
        std::ranges::find(quantized_rows(), node.op_type(), &QuantizedRow::type) != quantized_rows().end();
    const std::string& type = node.op_type();
    return has_row || is_standard_now(node) || type == "QGemm" || type == "DynamicQuantizeMatMul" ||
           type == "MatMulIntegerToFloat" || type == "DynamicQuantizeLSTM";
  }

  [[nodiscard]] bool has_any(const GraphProto& graph) const {
    return std::ranges::any_of(graph.node(), [&](const NodeProto& node) {
      return is_replaced(node) || std::ranges::any_of(node.attribute(), [&](const AttributeProto& attribute) {
               return (attribute.has_g() && has_any(attribute.g())) ||
                      std::ranges::any_of(attribute.graphs(), [&](const GraphProto& body) { return has_any(body); });
             });
    });
  }

  // Nodes that stay keep their addresses, by which their scopes are known.
  Result<void> rewrite(GraphProto& graph) {
    std::vector<std::string> own;  // constants of this graph
    for (const TensorProto& tensor : graph.initializer()) {
      if (constants_.try_emplace(tensor.name(), &tensor).second) own.push_back(tensor.name());
    }
    for (std::unique_ptr<NodeProto>& node : take_nodes(graph)) {
      LOWTIDE_RETURN_IF_ERROR(rewrite_bodies(*node));
      if (is_replaced(*node) && !is_standard_now(*node)) {
        LOWTIDE_RETURN_IF_ERROR(replace(*node, graph));
        continue;
      }
      if (is_replaced(*node)) {
        opsets_.assign(*node, scope_of(*node, kOpsetOfStandard));
        node->clear_domain();
      }
      graph.mutable_node()->AddAllocated(node.release());
    }
    for (const std::string& name : own) constants_.erase(name);
    return {};
  }

  static std::vector<std::unique_ptr<NodeProto>> take_nodes(GraphProto& graph) {
    std::vector<std::unique_ptr<NodeProto>> nodes(static_cast<std::size_t>(graph.node_size()));
    for (std::size_t at = nodes.size(); at > 0; --at) nodes[at - 1].reset(graph.mutable_node()->ReleaseLast());
    return nodes;
  }

  Result<void> rewrite_bodies(NodeProto& node) {
    for (AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) LOWTIDE_RETURN_IF_ERROR(rewrite(*attribute.mutable_g()));
      for (GraphProto& body : *attribute.mutable_graphs()) LOWTIDE_RETURN_IF_ERROR(rewrite(body));
    }
    return {};
  }

  // The imports of a node, with another version of the standard.
  std::size_t scope_of(const NodeProto& node, int opset) {
    OpsetImports imports = opsets_.of(node);
    imports[""] = opset;
    return opsets_.add(std::move(imports));
  }

  Result<void> replace(const NodeProto& node, GraphProto& graph) {
    Expansion expansion(node, names_, constants_, graph);
    LOWTIDE_RETURN_IF_ERROR(expand(expansion));
    const std::size_t scope = scope_of(node, kOpsetOfParts);
    for (NodeProto& made : expansion.made()) {
      NodeProto* added = graph.add_node();
      added->Swap(&made);
      opsets_.assign(*added, scope);
    }
    return {};
  }

  static Result<void> expand(Expansion& out) {
    const std::string& type = out.node().op_type();
    if (type == "QGemm") return expand_gemm(out);
    if (type == "DynamicQuantizeMatMul") return expand_dynamic_product(out);
    if (type == "MatMulIntegerToFloat") return expand_real_product(out);
    if (type == "DynamicQuantizeLSTM") return expand_lstm(out);
    return expand_row(*std::ranges::find(quantized_rows(), type, &QuantizedRow::type), out);
  }

  OpsetScopes& opsets_;
  FreshNames names_;
  ConstantsByName constants_;
};

}  // namespace

Result<void> replace_quantized_operators(GraphProto& graph, OpsetScopes& opsets) {
  return QuantizedOperators(opsets).run(graph);
}

}  // namespace lowtide::import_internal
