// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lowtide/graph/graph.h"

namespace lowtide::verify_internal {

// Whether an operator is of the ONNX standard and has the given name.
[[nodiscard]] bool is_standard(const Operator& op, std::string_view type);

// The number of elements.
[[nodiscard]] std::int64_t count_of(const Shape& shape);

// An attribute that is an integer or a float. NaN if it is neither, and `otherwise` if it is absent.
[[nodiscard]] double number_of(const Node& node, std::string_view name, double otherwise);

// The operands of a QuantizeLinear or DequantizeLinear between f32 and integers of 8 bits. Scale and zero point are
// constants with equally many elements: one, or one per entry of an axis.
struct ScaledConversion {
  TensorId from;
  TensorId scale;
  TensorId zero;
};
// Returns nullopt if the node is absent, or no such conversion of the given type.
[[nodiscard]] std::optional<ScaledConversion> conversion(const Graph& model, std::optional<NodeId> id,
                                                         std::string_view type);
[[nodiscard]] bool is_for_all_elements(const Graph& model, const ScaledConversion& found);

// Whether two constants are known to have the same bytes.
[[nodiscard]] bool have_same_bytes(const Graph& model, TensorId a, TensorId b);

// The operand of a DequantizeLinear whose results a QuantizeLinear makes the same integers of, because both have the
// same scale and zero point. Returns nullopt if the node is no such QuantizeLinear. `content` has the tensor that a
// copy copies in the end, for all tensors before the node.
[[nodiscard]] std::optional<TensorId> same_integers(const Graph& model, NodeId quantize,
                                                    const IdVector<TensorId, TensorId>& content);

}  // namespace lowtide::verify_internal
