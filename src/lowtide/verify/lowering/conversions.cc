// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/lowering/conversions.h"

#include <algorithm>
#include <limits>
#include <variant>

namespace lowtide::verify_internal {
bool is_standard(const Operator& op, std::string_view type) {
  return (op.domain.empty() || op.domain == "ai.onnx") && op.type == type;
}

std::int64_t count_of(const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape.extents()) count *= extent;
  return count;
}

double number_of(const Node& node, std::string_view name, double otherwise) {
  for (const Attribute& attribute : node.attributes) {
    if (attribute.name != name) continue;
    if (const auto* real = std::get_if<double>(&attribute.value)) return *real;
    if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) return static_cast<double>(*integer);
    return std::numeric_limits<double>::quiet_NaN();
  }
  return otherwise;
}

std::optional<ScaledConversion> conversion(const Graph& model, std::optional<NodeId> id, std::string_view type) {
  if (!id || !is_standard(model.op(*id), type)) return std::nullopt;
  const Node& node = model.node(*id);
  const auto is_present = [](const std::optional<TensorId>& operand) { return operand.has_value(); };
  if (node.inputs.size() != 3 || node.outputs.size() != 1 || !std::ranges::all_of(node.inputs, is_present) ||
      !node.outputs[0] || number_of(node, "block_size", 0) != 0)
    return std::nullopt;
  const Tensor& from = model.tensor(*node.inputs[0]);
  const Tensor& to = model.tensor(*node.outputs[0]);
  const Tensor& integer = from.dtype == DType::f32 ? to : from;
  const Tensor& scale = model.tensor(*node.inputs[1]);
  const Tensor& zero = model.tensor(*node.inputs[2]);
  const bool has_types = (from.dtype == DType::f32) != (to.dtype == DType::f32) && is_byte(integer.dtype) &&
                         zero.dtype == integer.dtype && scale.dtype == DType::f32;
  const bool is_fixed = scale.role == Role::constant && zero.role == Role::constant;
  if (!has_types || !is_fixed || count_of(scale.shape) != count_of(zero.shape)) return std::nullopt;
  return ScaledConversion{*node.inputs[0], *node.inputs[1], *node.inputs[2]};
}

bool is_for_all_elements(const Graph& model, const ScaledConversion& found) {
  return count_of(model.tensor(found.scale).shape) == 1;
}

bool have_same_bytes(const Graph& model, TensorId a, TensorId b) {
  const auto* integers = model.known_integers(a);
  const auto* others = model.known_integers(b);
  const Tensor& of_a = model.tensor(a);
  const Tensor& of_b = model.tensor(b);
  if (a == b) return true;
  if (of_a.dtype != of_b.dtype) return false;
  if (integers != nullptr && others != nullptr) return *integers == *others;
  return of_a.constant.has_value() && of_a.constant == of_b.constant;
}

std::optional<TensorId> same_integers(const Graph& model, NodeId quantize,
                                      const IdVector<TensorId, TensorId>& content) {
  const std::optional<ScaledConversion> after = conversion(model, quantize, "QuantizeLinear");
  if (!after || !is_for_all_elements(model, *after)) return std::nullopt;
  const std::optional<ScaledConversion> before =
      conversion(model, model.tensor(content[after->from]).producer, "DequantizeLinear");
  if (!before || !have_same_bytes(model, before->scale, after->scale) ||
      !have_same_bytes(model, before->zero, after->zero))
    return std::nullopt;
  return before->from;
}

}  // namespace lowtide::verify_internal
