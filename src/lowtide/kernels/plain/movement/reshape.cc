// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/strided_copy.h"
#include "lowtide/kernels/plain/movement/movement.h"

namespace lowtide::kernels_internal {
namespace {

// Gives the result the extents, and the bytes of operand 0.
RunStatus copy_with(const Operands& operands, const std::optional<Extents>& extents) {
  const BoundTensor& from = operands.reads[0];
  if (!extents || extents->count() != count_of(from)) return {RunCode::bad_extents, 0};
  const RunStatus status = set_extents(operands.writes[0], *extents);
  if (status.code != RunCode::ok) return status;
  copy_bytes(*from.bytes, *operands.writes[0].bytes, count_of(from) * element_bytes(from.dtype));
  return {};
}

struct ReshapeParameters {
  bool allows_zero = false;  // an extent of 0 means 0, and does not repeat that of the operand
};

std::optional<Extents> reshaped(const Extents& from, Extents to, bool allows_zero) {
  std::optional<int> open;
  for (int axis = 0; axis < to.rank(); ++axis) {
    if (to[axis] == 0 && !allows_zero) {
      if (axis >= from.rank()) return std::nullopt;
      to[axis] = from[axis];
    }
    if (to[axis] < -1 || (to[axis] == -1 && open)) return std::nullopt;
    if (to[axis] == -1) open = axis;
  }
  if (!open) return to;
  to[*open] = 1;
  const std::int64_t rest = to.count();
  if (rest <= 0 || from.count() % rest != 0) return std::nullopt;
  to[*open] = from.count() / rest;
  return to;
}

RunStatus run_reshape(const ReshapeParameters& parameters, const Operands& operands, Team& /*team*/) {
  const std::optional<Extents> shape = integers_of(operands.reads[1]);
  if (!shape) return {RunCode::bad_extents, 1};
  return copy_with(operands, reshaped(Extents(extents_of(operands.reads[0])), *shape, parameters.allows_zero));
}

// Axes are an input since opset 13, and an attribute before. nullopt: neither.
struct AxesParameters {
  std::optional<std::vector<std::int64_t>> attribute;
};

// The axes as flags. Returns nullopt if an axis is out of range or given twice.
std::optional<std::array<bool, kMostAxes>> axis_flags(const Extents& axes, int rank) {
  std::array<bool, kMostAxes> flags{};
  for (std::int64_t value : axes.values()) {
    const std::optional<int> axis = axis_in(value, rank);
    if (!axis || flags[static_cast<std::size_t>(*axis)]) return std::nullopt;
    flags[static_cast<std::size_t>(*axis)] = true;
  }
  return flags;
}

// The axes of the node, or nullopt if they are invalid. An empty list if the node has none.
std::optional<Extents> axes_of(const AxesParameters& parameters, const Operands& operands) {
  if (has_operand(operands.reads, 1)) return integers_of(operands.reads[1]);
  if (!parameters.attribute) return Extents();
  if (parameters.attribute->size() > kMostAxes) return std::nullopt;
  return Extents(*parameters.attribute);
}

RunStatus run_squeeze(const AxesParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const std::optional<Extents> axes = axes_of(parameters, operands);
  const auto flags = axes ? axis_flags(*axes, from.rank()) : std::nullopt;
  if (!flags) return {RunCode::bad_extents, 1};
  const bool removes_all = !has_operand(operands.reads, 1) && !parameters.attribute;
  Extents to;
  for (int axis = 0; axis < from.rank(); ++axis) {
    const bool is_removed = removes_all ? from[axis] == 1 : (*flags)[static_cast<std::size_t>(axis)];
    if (is_removed && from[axis] != 1) return {RunCode::bad_extents, 1};
    if (!is_removed) to.push_back(from[axis]);
  }
  return copy_with(operands, to);
}

RunStatus run_unsqueeze(const AxesParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const std::optional<Extents> axes = axes_of(parameters, operands);
  if (!axes || from.rank() + axes->rank() > kMostAxes) return {RunCode::bad_extents, 1};
  const int rank = from.rank() + axes->rank();
  const auto flags = axis_flags(*axes, rank);
  if (!flags) return {RunCode::bad_extents, 1};
  Extents to;
  int next = 0;
  for (int axis = 0; axis < rank; ++axis) to.push_back((*flags)[static_cast<std::size_t>(axis)] ? 1 : from[next++]);
  return copy_with(operands, to);
}

struct FlattenParameters {
  std::int64_t axis = 1;
};

RunStatus run_flatten(const FlattenParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const std::int64_t axis = parameters.axis < 0 ? parameters.axis + from.rank() : parameters.axis;
  if (axis < 0 || axis > from.rank()) return {RunCode::bad_extents, 0};
  return copy_with(operands,
                   Extents{from.product(0, static_cast<int>(axis)), from.product(static_cast<int>(axis), from.rank())});
}

struct NothingRead {};

RunStatus run_identity(const NothingRead& /*parameters*/, const Operands& operands, Team& /*team*/) {
  return copy_with(operands, Extents(extents_of(operands.reads[0])));
}

RunStatus run_dropout(const NothingRead& parameters, const Operands& operands, Team& team) {
  const RunStatus status = run_identity(parameters, operands, team);
  if (status.code != RunCode::ok || !has_operand(operands.writes, 1)) return status;
  const BoundTensor& mask = operands.writes[1];
  const RunStatus masked = set_extents(mask, Extents(extents_of(operands.reads[0])));
  if (masked.code == RunCode::ok) std::memset(*mask.bytes, 1, static_cast<std::size_t>(count_of(mask)));
  return masked;
}

// Whether the node may be in training mode.
bool may_train(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 3 || !node.inputs[2]) return false;
  const std::vector<std::int64_t>* training = graph.known_integers(*node.inputs[2]);
  return training == nullptr || training->size() != 1 || training->front() != 0;
}

// A node that trains drops nothing if its ratio is 0. prepare_dropout() reads the ratio.
std::string missing_dropout(const Graph& graph, const Node& node) {
  if (node.outputs.size() > 1 && node.outputs[1] && graph.tensor(*node.outputs[1]).dtype != DType::boolean) {
    return "the mask is not bool, as of opset 12";
  }
  const bool has_ratio = node.inputs.size() > 1 && node.inputs[1] &&
                         graph.tensor(*node.inputs[1]).role == Role::constant &&
                         computed_type(graph, node, 1) == DType::f32;
  if (!may_train(graph, node) || has_ratio) return "";
  return "training_mode is not a constant that is false, and kernels do not train";
}

PreparedResult prepare_dropout(const PrepareInput& input) {
  const Node& node = node_of(input);
  if (may_train(input.graph, node)) {
    const std::span<const std::byte> ratio = input.constant(*node.inputs[1]);
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (ratio.empty() || !std::ranges::all_of(ratio, is_zero)) {
      return Error{ErrorCode::unsupported,
                   "it is in training mode with a ratio above 0, and kernels do not train; export the model for "
                   "inference",
                   "graph " + quoted(input.graph.name()) + ": node " + quoted(node.name)};
    }
  }
  return plain_kernel(input, &run_dropout, NothingRead{});
}

AxesParameters axes_parameters(const PrepareInput& input) {
  const std::vector<std::int64_t>* axes = integers_attribute(node_of(input), "axes");
  return {axes == nullptr ? std::nullopt : std::optional(*axes)};
}

// Sorted by type.
constexpr std::array kReshapeTable{
    PlainOperator{
        .op = on_moved("Dropout"), .prepare = &prepare_dropout, .missing = &missing_dropout, .mixes_reals = true},
    PlainOperator{.op = on_moved("Flatten"),
                  .prepare = [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_flatten,
                                        FlattenParameters{integer_attribute(node_of(input), "axis", 1)});
                  }},
    PlainOperator{.op = on_moved("Identity"),
                  .prepare = [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_identity, NothingRead{});
                  }},
    PlainOperator{.op = on_moved("Reshape"),
                  .operands = 2,
                  .prepare = [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_reshape,
                                        ReshapeParameters{integer_attribute(node_of(input), "allowzero", 0) != 0});
                  }},
    PlainOperator{.op = on_moved("Squeeze"),
                  .prepare = [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_squeeze, axes_parameters(input));
                  }},
    PlainOperator{.op = on_moved("Unsqueeze"),
                  .prepare = [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_unsqueeze, axes_parameters(input));
                  }},
};
constexpr std::array kReshapeOperators = operators_of(kReshapeTable);

}  // namespace

Family reshape_family() {
  return {.name = "reshape",
          .operators = kReshapeOperators,
          .offer = [](const OfferInput& input) { return offer_from(kReshapeTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kReshapeTable, input); }};
}

}  // namespace lowtide::kernels_internal
