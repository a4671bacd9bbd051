// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/common/constants.h"

#include <cstring>
#include <variant>

#include "lowtide/base/half.h"
#include "lowtide/graph/standard_operator.h"

namespace lowtide::lower_internal {

std::optional<TensorId> constant_behind(const Graph& graph, TensorId tensor) {
  if (graph.tensor(tensor).role == Role::constant) return tensor;
  const std::optional<NodeId> producer = graph.tensor(tensor).producer;
  if (!producer) return std::nullopt;
  const Operator& op = graph.op(*producer);
  const bool is_cast = is_standard(op, "Cast");
  const Node& node = graph.node(*producer);
  if (!is_cast || node.inputs.size() != 1 || !node.inputs[0]) return std::nullopt;
  return graph.tensor(*node.inputs[0]).role == Role::constant ? node.inputs[0] : std::nullopt;
}

std::optional<float> constant_number(const Graph& graph, const ConstantTable& table, TensorId tensor) {
  if (graph.tensor(tensor).dtype != DType::f32) return std::nullopt;
  const std::optional<TensorId> behind = constant_behind(graph, tensor);
  if (!behind || !graph.tensor(*behind).constant) return std::nullopt;
  const Tensor& constant = graph.tensor(*behind);
  const auto* bytes = std::get_if<ConstantSource::Inline>(&table.sources[*constant.constant].where);
  if (bytes == nullptr) return std::nullopt;
  if (constant.dtype == DType::f32 && bytes->bytes.size() == sizeof(float)) {
    float value = 0;
    std::memcpy(&value, bytes->bytes.data(), sizeof value);
    return value;
  }
  if (constant.dtype != DType::f16 || bytes->bytes.size() != sizeof(Half)) return std::nullopt;
  Half value{};
  std::memcpy(&value, bytes->bytes.data(), sizeof value);
  return to_float(value);
}

}  // namespace lowtide::lower_internal
