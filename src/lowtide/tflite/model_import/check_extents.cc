// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/model_import/check_extents.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/graph/shape.h"

namespace lowtide::model_import_internal {
namespace {

using Extents = std::vector<std::int64_t>;

// Operators whose result has the extents of their first operand. Sorted by name.
constexpr auto kSameExtents = std::to_array<std::string_view>({"ABS",
                                                               "CAST",
                                                               "CEIL",
                                                               "COS",
                                                               "CUMSUM",
                                                               "DEQUANTIZE",
                                                               "ELU",
                                                               "EXP",
                                                               "FAKE_QUANT",
                                                               "FLOOR",
                                                               "GELU",
                                                               "HARD_SWISH",
                                                               "L2_NORMALIZATION",
                                                               "LEAKY_RELU",
                                                               "LOCAL_RESPONSE_NORMALIZATION",
                                                               "LOG",
                                                               "LOGICAL_NOT",
                                                               "LOGISTIC",
                                                               "LOG_SOFTMAX",
                                                               "NEG",
                                                               "QUANTIZE",
                                                               "RELU",
                                                               "RELU6",
                                                               "RELU_0_TO_1",
                                                               "RELU_N1_TO_1",
                                                               "REVERSE_V2",
                                                               "ROUND",
                                                               "RSQRT",
                                                               "SIGN",
                                                               "SIN",
                                                               "SOFTMAX",
                                                               "SQRT",
                                                               "SQUARE",
                                                               "TANH",
                                                               "ZEROS_LIKE"});
// Operators whose result has the elements of their first operand with other extents.
constexpr auto kSameElements = std::to_array<std::string_view>({"EXPAND_DIMS", "RESHAPE", "SQUEEZE", "TRANSPOSE"});
// Operators that repeat the smaller of two operands.
constexpr auto kBroadcasts = std::to_array<std::string_view>({"ADD", "DIV", "MAXIMUM", "MINIMUM", "MUL", "SUB"});

template <typename Names>
bool has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string shown(const Extents& extents) { return to_string(Shape(extents)); }

std::string differs(const Extents& stated, const Extents& derived) {
  return "its result has the extents " + shown(stated) + " in the file, and its operands give " + shown(derived);
}

std::int64_t option(const TfliteOperator& op, std::string_view name, std::int64_t otherwise) {
  const auto* value = find_option<std::int64_t>(op, name);
  return value != nullptr ? *value : otherwise;
}

struct Window {
  std::int64_t extent = 0;  // of the operand
  std::int64_t taps = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
};

// nullopt: no such window.
std::optional<std::int64_t> windows(const Window& window, bool is_padded) {
  if (window.stride < 1 || window.dilation < 1 || window.taps < 1) return std::nullopt;
  const std::int64_t span = is_padded ? 1 : (window.taps - 1) * window.dilation + 1;
  if (window.extent < span) return std::nullopt;
  return (window.extent - span) / window.stride + 1;
}

std::string check_windows(const TfliteOperator& op, const Extents& from, const Extents& filter, const Extents& to) {
  if (from.size() != 4 || to.size() != 4) return "its operand and its result must have rank 4";
  const auto* padding = find_option<std::string>(op, "padding");
  if (padding == nullptr) return {};
  const bool is_padded = *padding == "SAME";
  const bool is_pool = op.type.ends_with("POOL_2D");
  Extents derived = to;
  for (const auto& [axis, letter] : {std::pair<std::size_t, std::string>(1, "h"), {2, "w"}}) {
    const std::string long_name = letter == "h" ? "height" : "width";
    const std::int64_t taps = is_pool ? option(op, "filter_" + long_name, 0) : filter[axis];
    const auto count = windows({.extent = from[axis],
                                .taps = taps,
                                .stride = option(op, "stride_" + letter, 0),
                                .dilation = is_pool ? 1 : option(op, "dilation_" + letter + "_factor", 1)},
                               is_padded);
    if (!count) return "its window of " + std::to_string(taps) + " does not fit the extents " + shown(from);
    derived[axis] = *count;
  }
  if (is_pool) derived[3] = from[3];
  if (op.type == "CONV_2D") derived[3] = filter[0];
  if (op.type == "DEPTHWISE_CONV_2D") derived[3] = filter[3];
  derived[0] = from[0];
  return derived == to ? "" : differs(to, derived);
}

std::string check_concatenation(const TfliteSubgraph& subgraph, const TfliteOperator& op, const Extents& to) {
  std::int64_t axis = option(op, "axis", 0);
  if (axis < 0) axis += static_cast<std::int64_t>(to.size());
  if (axis < 0 || std::cmp_greater_equal(axis, to.size())) return {};
  const auto along = static_cast<std::size_t>(axis);
  Extents derived = to;
  derived[along] = 0;
  for (const std::optional<std::uint32_t>& input : op.inputs) {
    if (!input || subgraph.tensors[*input].shape.size() != to.size()) return {};
    derived[along] += subgraph.tensors[*input].shape[along];
  }
  return derived == to ? "" : differs(to, derived);
}

std::string check_elements(const Extents& from, const Extents& to) {
  const Result<std::int64_t> given = element_count(Shape(from));
  const Result<std::int64_t> made = element_count(Shape(to));
  if (!given || !made || *given == *made) return {};
  return "its operand " + shown(from) + " has " + std::to_string(*given) + " elements, and its result " + shown(to) +
         " has " + std::to_string(*made);
}

}  // namespace

std::string extents_obstacle(const TfliteSubgraph& subgraph, const TfliteOperator& op) {
  if (op.builtin == kTfliteCustom || op.inputs.empty() || op.outputs.empty() || !op.inputs[0] || !op.outputs[0]) {
    return {};
  }
  const Extents& from = subgraph.tensors[*op.inputs[0]].shape;
  const Extents& to = subgraph.tensors[*op.outputs[0]].shape;
  const bool has_second = op.inputs.size() > 1 && op.inputs[1];
  const Extents second = has_second ? subgraph.tensors[*op.inputs[1]].shape : Extents{};
  if (has(kSameExtents, op.type)) return from == to ? "" : differs(to, from);
  if (has(kSameElements, op.type)) return check_elements(from, to);
  if (op.type == "CONCATENATION") return check_concatenation(subgraph, op, to);
  if (op.type.ends_with("_POOL_2D")) return check_windows(op, from, {}, to);
  if ((op.type == "CONV_2D" || op.type == "DEPTHWISE_CONV_2D") && second.size() == 4) {
    return check_windows(op, from, second, to);
  }
  if (has(kBroadcasts, op.type) && has_second) {
    const auto derived = broadcast_extents(from, second);
    if (!derived) return "its operands " + shown(from) + " and " + shown(second) + " do not fit together";
    return *derived == to ? "" : differs(to, *derived);
  }
  return {};
}

}  // namespace lowtide::model_import_internal
