// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/multiply_accumulates.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/checked.h"
#include "lowtide/graph/lowered.h"

namespace lowtide {
namespace {

using Count = std::optional<std::int64_t>;  // nullopt: not known, or more than 2^63 - 1

Count times(Count a, Count b) { return a && b ? checked_multiply(*a, *b) : std::nullopt; }
Count plus(Count a, Count b) { return a && b ? checked_add(*a, *b) : std::nullopt; }

Count elements(const Shape* shape) {
  if (shape == nullptr) return std::nullopt;
  const Result<std::int64_t> count = element_count(*shape);
  return count ? Count(*count) : std::nullopt;
}

// A negative axis counts from the end, as in Python.
Count extent(const Shape* shape, int axis) {
  if (shape == nullptr) return std::nullopt;
  if (axis < 0) axis += shape->rank();
  return axis >= 0 && axis < shape->rank() ? Count((*shape)[axis]) : std::nullopt;
}

// The operands of a node by position. Those that are missing or omitted are nullptr.
struct Operands {
  const Graph& graph;
  const Node& node;

  [[nodiscard]] const Shape* input(std::size_t at) const { return shape_in(node.inputs, at); }
  [[nodiscard]] const Shape* result() const { return shape_in(node.outputs, 0); }
  [[nodiscard]] bool has_input(std::size_t at) const { return input(at) != nullptr; }
  [[nodiscard]] bool is_set(std::string_view attribute) const {
    const auto* value = find_attribute<std::int64_t>(node.attributes, attribute);
    return value != nullptr && *value != 0;
  }

 private:
  [[nodiscard]] const Shape* shape_in(const std::vector<std::optional<TensorId>>& tensors, std::size_t at) const {
    return at < tensors.size() && tensors[at] ? &graph.tensor(*tensors[at]).shape : nullptr;
  }
};

// The elements of one filter of a convolution: the channels of a group times the window. The filters are along axis 0.
Count elements_of_filter(const Shape* weights) {
  const Count all = elements(weights);
  const Count filters = extent(weights, 0);
  if (!all || !filters) return std::nullopt;
  return *filters == 0 ? 0 : *all / *filters;
}

Count convolution(const Operands& of) { return times(elements(of.result()), elements_of_filter(of.input(1))); }

// lowtide::Conv. Its attributes have the extents of the weights in the model. The padding of blocks is not counted.
Count formatted_convolution(const Operands& of) {
  const auto* weights = find_attribute<std::vector<std::int64_t>>(of.node.attributes, kWeightsAttribute);
  const auto* format = find_attribute<std::string>(of.node.attributes, kOutputFormatAttribute);
  if (weights == nullptr || weights->size() < 3 || format == nullptr || of.result() == nullptr) return std::nullopt;
  const auto axes = static_cast<int>(weights->size());
  const int first_spatial = *format == "nhwc" ? 1 : 2;
  Count all = extent(of.result(), 0);
  for (int axis = first_spatial; axis < first_spatial + axes - 2; ++axis) all = times(all, extent(of.result(), axis));
  for (std::int64_t one : *weights) all = times(all, one);
  return all;
}

Count quantized_convolution(const Operands& of) {
  return times(elements(of.result()), elements_of_filter(of.input(3)));
}

// Each element of the input is multiplied by the weights of its channel, which are along axis 0.
Count transposed_convolution(const Operands& of) {
  return times(elements(of.input(0)), elements_of_filter(of.input(1)));
}

Count matrix_product(const Operands& of) {
  if (!of.has_input(1)) return std::nullopt;
  return times(elements(of.result()), extent(of.input(0), -1));
}

Count quantized_matrix_product(const Operands& of) {
  if (!of.has_input(3)) return std::nullopt;
  return times(elements(of.result()), extent(of.input(0), -1));
}

Count gemm(const Operands& of) {
  if (!of.has_input(1)) return std::nullopt;
  return times(elements(of.result()), extent(of.input(0), of.is_set("transA") ? -2 : -1));
}

// transBatchA moves axis 0 behind the other batch axes, before transA swaps the last two axes.
Count fused_matrix_product(const Operands& of) {
  if (!of.has_input(1)) return std::nullopt;
  const bool is_moved = of.is_set("transBatchA") && of.is_set("transA");
  return times(elements(of.result()), extent(of.input(0), is_moved ? 0 : of.is_set("transA") ? -2 : -1));
}

// Both layouts of the input begin with steps and batch, in one order or the other. W and R have all gates and
// directions.
Count recurrent_cells(const Operands& of) {
  const Count cells = times(extent(of.input(0), 0), extent(of.input(0), 1));
  return times(cells, plus(elements(of.input(1)), elements(of.input(2))));
}

// With inputs of three axes, the heads are in the last one, so that the same products are counted.
Count attention(const Operands& of) {
  if (of.has_input(6)) return std::nullopt;  // the number of keys depends on data
  Count keys = extent(of.input(1), -2);
  if (of.has_input(4)) keys = plus(keys, extent(of.input(4), -2));
  return times(plus(elements(of.input(0)), elements(of.result())), keys);
}

// lowtide::Attention, whose keys may lie along any axis.
Count fused_attention(const Operands& of) {
  if (!of.has_input(0) || !of.has_input(1)) return std::nullopt;
  const auto* order = find_attribute<std::vector<std::int64_t>>(of.node.attributes, kKeyOrderAttribute);
  const int axis = order == nullptr || order->empty() ? -1 : static_cast<int>(order->back());
  return times(plus(elements(of.input(0)), elements(of.result())), extent(of.input(1), axis));
}

// The letters of an operand, without spaces. nullopt: it has an ellipsis, or not one letter per axis.
std::optional<std::string> letters_of(std::string_view term, const Shape& shape) {
  std::string letters;
  for (char character : term) {
    if (character == '.') return std::nullopt;
    if (character != ' ') letters += character;
  }
  return static_cast<int>(letters.size()) == shape.rank() ? std::optional(letters) : std::nullopt;
}

// Whether some letter is not in the result, so that the operator sums over its axis. Without "->", the result has the
// letters that occur once.
bool sums_an_axis(std::string_view equation) {
  const std::size_t arrow = equation.find("->");
  const std::string_view operands = equation.substr(0, arrow);
  const std::string_view result = arrow == std::string_view::npos ? std::string_view() : equation.substr(arrow + 2);
  return std::any_of(operands.begin(), operands.end(), [&](char letter) {
    if (letter == ' ' || letter == ',') return false;
    if (arrow != std::string_view::npos) return result.find(letter) == std::string_view::npos;
    return std::count(operands.begin(), operands.end(), letter) > 1;
  });
}

// An outer product sums nothing, like an elementwise product. With one operand there are no products.
Count einsum(const Operands& of) {
  const auto* equation = find_attribute<std::string>(of.node.attributes, "equation");
  if (equation == nullptr || !of.has_input(0)) return std::nullopt;
  if (of.node.inputs.size() == 1 || !sums_an_axis(*equation)) return 0;
  if (of.node.inputs.size() != 2 || !of.has_input(1)) return std::nullopt;
  const std::string operands = equation->substr(0, equation->find("->"));
  const std::size_t comma = operands.find(',');
  if (comma == std::string::npos) return std::nullopt;
  const std::array<std::string, 2> terms = {operands.substr(0, comma), operands.substr(comma + 1)};
  std::map<char, std::int64_t> extents;
  for (std::size_t at = 0; at < terms.size(); ++at) {
    const Shape& shape = *of.input(at);
    const std::optional<std::string> letters = letters_of(terms[at], shape);
    if (!letters) return std::nullopt;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      std::int64_t& most = extents.try_emplace((*letters)[static_cast<std::size_t>(axis)], 0).first->second;
      most = std::max(most, shape[axis]);
    }
  }
  Count product = 1;
  for (const auto& [letter, most] : extents) product = times(product, most);
  return product;
}

// Each row of the operand meets all coefficients. An operand with one axis is one row.
Count linear_model(const Operands& of) {
  const auto* coefficients = find_attribute<std::vector<double>>(of.node.attributes, "coefficients");
  if (coefficients == nullptr || !of.has_input(0) || of.input(0)->rank() == 0) return std::nullopt;
  return times(of.input(0)->rank() == 1 ? 1 : (*of.input(0))[0], static_cast<std::int64_t>(coefficients->size()));
}

struct Rule {
  std::string_view type;
  Count (*count)(const Operands& of);
};

// Operators of ONNX and of ONNX Runtime. Those with the same name have the same rule.
constexpr auto kRules = std::to_array<Rule>({{"Attention", attention},
                                             {"Conv", convolution},
                                             {"ConvInteger", convolution},
                                             {"ConvTranspose", transposed_convolution},
                                             {"DeformConv", convolution},
                                             {"Einsum", einsum},
                                             {"FusedConv", convolution},
                                             {"FusedGemm", gemm},
                                             {"FusedMatMul", fused_matrix_product},
                                             {"GRU", recurrent_cells},
                                             {"Gemm", gemm},
                                             {"LSTM", recurrent_cells},
                                             {"LinearClassifier", linear_model},
                                             {"LinearRegressor", linear_model},
                                             {"MatMul", matrix_product},
                                             {"MatMulInteger", matrix_product},
                                             {"PackedMatMul", matrix_product},
                                             {"QLinearConv", quantized_convolution},
                                             {"QLinearMatMul", quantized_matrix_product},
                                             {"RNN", recurrent_cells}});

}  // namespace

std::optional<std::int64_t> multiply_accumulates(const Graph& graph, NodeId node) {
  const Operator& op = graph.op(node);
  if (!op.traits.is_known) return std::nullopt;
  if (!op.traits.may_sum_products) return 0;
  if (op.domain == kOwnDomain && op.type == kAttentionType) return fused_attention({graph, graph.node(node)});
  if (op.domain == kOwnDomain && op.type == kConvType) return formatted_convolution({graph, graph.node(node)});
  const auto rule = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& row) { return row.type == op.type; });
  return rule == kRules.end() ? std::nullopt : rule->count({graph, graph.node(node)});
}

}  // namespace lowtide
