// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/movement/movement.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/strided_copy.h"

namespace lowtide::kernels_internal {
namespace {

struct AxisParameter {
  std::int64_t axis = 0;
};

RunStatus run_concat(const AxisParameter& parameters, const Operands& operands, Team& team) {
  Extents to(extents_of(operands.reads[0]));
  const std::optional<int> axis = axis_in(parameters.axis, to.rank());
  if (!axis) return {RunCode::bad_extents, 0};
  for (std::size_t read = 1; read < operands.reads.size(); ++read) {
    Extents from(extents_of(operands.reads[read]));
    if (from.rank() != to.rank()) return {RunCode::bad_extents, static_cast<std::uint32_t>(read)};
    to[*axis] += from[*axis];
    from[*axis] = to[*axis];
    if (!std::ranges::equal(from.values(), to.values())) {
      return {RunCode::bad_extents, static_cast<std::uint32_t>(read)};
    }
  }
  const BoundTensor& result = operands.writes[0];
  if (const RunStatus status = set_extents(result, to); status.code != RunCode::ok) return status;
  const int bytes = element_bytes(result.dtype);
  const std::int64_t inner = to.product(*axis + 1, to.rank());
  std::byte* write = *result.bytes;
  for (const BoundTensor& read : operands.reads) {
    const std::int64_t part = read.extents[*axis] * inner;
    StridedCopy copy;
    copy.add(to.product(0, *axis), part, to[*axis] * inner);
    copy.add(part, 1, 1);
    copy.run(*read.bytes, write, bytes, team);
    write += part * bytes;
  }
  return {};
}

std::string missing_concat(const Graph& graph, const Node& node) {
  const DType dtype = graph.tensor(*node.outputs[0]).dtype;
  const bool is_equal =
      std::ranges::all_of(node.inputs, [&](const auto& id) { return id && graph.tensor(*id).dtype == dtype; });
  return is_equal ? "" : "the operands have different types";
}

struct SplitParameters {
  std::int64_t axis = 0;
  std::vector<std::int64_t> sizes;  // until opset 12; empty: an input, or equal parts
};

// The extent of part `at` along the axis.
std::optional<std::int64_t> part_extent(const SplitParameters& parameters, const Operands& operands,
                                        std::int64_t extent, std::size_t at) {
  if (has_operand(operands.reads, 1)) {
    const BoundTensor& sizes = operands.reads[1];
    if (sizes.dtype != DType::i64 || count_of(sizes) != static_cast<std::int64_t>(operands.writes.size())) {
      return std::nullopt;
    }
    return elements<std::int64_t>(sizes)[at];
  }
  if (!parameters.sizes.empty()) {
    if (parameters.sizes.size() != operands.writes.size()) return std::nullopt;
    return parameters.sizes[at];
  }
  const auto parts = static_cast<std::int64_t>(operands.writes.size());
  const std::int64_t most = (extent + parts - 1) / parts;
  return std::clamp<std::int64_t>(extent - most * static_cast<std::int64_t>(at), 0, most);
}

RunStatus run_split(const SplitParameters& parameters, const Operands& operands, Team& team) {
  const BoundTensor& read = operands.reads[0];
  const Extents from(extents_of(read));
  const std::optional<int> axis = axis_in(parameters.axis, from.rank());
  if (!axis) return {RunCode::bad_extents, 0};
  const int bytes = element_bytes(read.dtype);
  const std::int64_t inner = from.product(*axis + 1, from.rank());
  std::int64_t begin = 0;
  for (std::size_t at = 0; at < operands.writes.size(); ++at) {
    const std::optional<std::int64_t> extent = part_extent(parameters, operands, from[*axis], at);
    if (!extent || *extent < 0 || *extent > from[*axis] - begin) return {RunCode::bad_extents, 1};
    const BoundTensor& result = operands.writes[at];
    if (is_present(result)) {
      Extents to = from;
      to[*axis] = *extent;
      if (const RunStatus status = set_extents(result, to); status.code != RunCode::ok) return status;
      StridedCopy copy;
      copy.add(from.product(0, *axis), from[*axis] * inner, *extent * inner);
      copy.add(*extent * inner, 1, 1);
      copy.run(*read.bytes + begin * inner * bytes, *result.bytes, bytes, team);
    }
    begin += *extent;
  }
  return begin == from[*axis] ? RunStatus() : RunStatus{RunCode::bad_extents, 1};
}

struct NoneRead {};

RunStatus run_expand(const NoneRead& /*parameters*/, const Operands& operands, Team& team) {
  const BoundTensor& read = operands.reads[0];
  const std::optional<Extents> shape = integers_of(operands.reads[1]);
  if (!shape) return {RunCode::bad_extents, 1};
  Extents wanted = *shape;  // broadcast() reads extents only
  const std::array both{
      read,
      BoundTensor{.bytes = read.bytes, .extents = wanted.rank() == 0 ? nullptr : &wanted[0], .rank = wanted.rank()}};
  const std::optional<Extents> to = broadcast(both);
  if (!to) return {RunCode::bad_extents, 1};
  const BoundTensor& result = operands.writes[0];
  if (const RunStatus status = set_extents(result, *to); status.code != RunCode::ok) return status;
  const Extents from(extents_of(read));
  const Extents from_strides = dense_strides(from);
  const Extents to_strides = dense_strides(*to);
  StridedCopy copy;
  for (int axis = 0; axis < to->rank(); ++axis) {
    const int source = axis - (to->rank() - from.rank());
    copy.add((*to)[axis], source < 0 || from[source] == 1 ? 0 : from_strides[source], to_strides[axis]);
  }
  copy.run(*read.bytes, *result.bytes, element_bytes(read.dtype), team);
  return {};
}

RunStatus run_tile(const NoneRead& /*parameters*/, const Operands& operands, Team& team) {
  const BoundTensor& read = operands.reads[0];
  const Extents from(extents_of(read));
  const std::optional<Extents> repeats = integers_of(operands.reads[1]);
  if (!repeats || repeats->rank() != from.rank()) return {RunCode::bad_extents, 1};
  Extents to = from;
  for (int axis = 0; axis < from.rank(); ++axis) {
    if ((*repeats)[axis] < 0 || __builtin_mul_overflow(from[axis], (*repeats)[axis], &to[axis])) {
      return {RunCode::bad_extents, 1};
    }
  }
  const BoundTensor& result = operands.writes[0];
  if (const RunStatus status = set_extents(result, to); status.code != RunCode::ok) return status;
  const Extents from_strides = dense_strides(from);
  const Extents to_strides = dense_strides(to);
  StridedCopy copy;
  for (int axis = 0; axis < to.rank(); ++axis) {
    copy.add((*repeats)[axis], 0, to_strides[axis] * from[axis]);
    copy.add(from[axis], from_strides[axis], to_strides[axis]);
  }
  copy.run(*read.bytes, *result.bytes, element_bytes(read.dtype), team);
  return {};
}

struct TransposeParameters {
  std::vector<std::int64_t> order;  // empty: reversed
};

RunStatus run_transpose(const TransposeParameters& parameters, const Operands& operands, Team& team) {
  const BoundTensor& read = operands.reads[0];
  const Extents from(extents_of(read));
  std::array<bool, kMostAxes> is_used{};
  Extents order;
  for (int at = 0; at < from.rank(); ++at) {
    const auto given = static_cast<std::size_t>(at);
    const std::int64_t axis = parameters.order.empty() ? from.rank() - 1 - at : parameters.order[given];
    if (axis < 0 || axis >= from.rank() || is_used[static_cast<std::size_t>(axis)]) return {RunCode::bad_extents, 0};
    is_used[static_cast<std::size_t>(axis)] = true;
    order.push_back(axis);
  }
  Extents to = from;
  for (int at = 0; at < from.rank(); ++at) to[at] = from[static_cast<int>(order[at])];
  const BoundTensor& result = operands.writes[0];
  if (const RunStatus status = set_extents(result, to); status.code != RunCode::ok) return status;
  const Extents from_strides = dense_strides(from);
  const Extents to_strides = dense_strides(to);
  StridedCopy copy;
  for (int at = 0; at < to.rank(); ++at) copy.add(to[at], from_strides[static_cast<int>(order[at])], to_strides[at]);
  copy.run(*read.bytes, *result.bytes, element_bytes(read.dtype), team);
  return {};
}

std::string missing_transpose(const Graph& graph, const Node& node) {
  const std::vector<std::int64_t>* order = integers_attribute(node, "perm");
  const auto rank = static_cast<std::size_t>(graph.tensor(*node.inputs[0]).shape.rank());
  return order == nullptr || order->size() == rank ? ""
                                                   : "attribute 'perm' has " + std::to_string(order->size()) +
                                                         " axes, and the operand has " + std::to_string(rank);
}

struct BlockParameters {
  std::int64_t size = 1;
  bool is_behind = false;  // mode CRD: the block is behind the channels in the deep tensor
};

// [N, C * b * b, H, W] to [N, C, H * b, W * b]
RunStatus run_depth_to_space(const BlockParameters& parameters, const Operands& operands, Team& team) {
  const Extents from(extents_of(operands.reads[0]));
  const std::int64_t b = parameters.size;
  if (from.rank() != 4 || b < 1 || b > from[1] || from[1] % (b * b) != 0) return {RunCode::bad_extents, 0};
  const std::int64_t channels = from[1] / (b * b);
  const BoundTensor& result = operands.writes[0];
  const RunStatus status = set_extents(result, Extents{from[0], channels, from[2] * b, from[3] * b});
  if (status.code != RunCode::ok) return status;
  const std::int64_t plane = from[2] * from[3];
  const std::int64_t block_stride = parameters.is_behind ? plane : plane * channels;
  const std::int64_t channel_stride = parameters.is_behind ? plane * b * b : plane;
  StridedCopy copy;
  copy.add(from[0], plane * from[1], plane * from[1]);
  copy.add(channels, channel_stride, plane * b * b);
  copy.add(from[2], from[3], b * b * from[3]);
  copy.add(b, block_stride * b, b * from[3]);
  copy.add(from[3], 1, b);
  copy.add(b, block_stride, 1);
  copy.run(*operands.reads[0].bytes, *result.bytes, element_bytes(result.dtype), team);
  return {};
}

// [N, C, H * b, W * b] to [N, b * b * C, H, W]
RunStatus run_space_to_depth(const BlockParameters& parameters, const Operands& operands, Team& team) {
  const Extents from(extents_of(operands.reads[0]));
  const std::int64_t b = parameters.size;
  if (from.rank() != 4 || b < 1 || from[2] % b != 0 || from[3] % b != 0) return {RunCode::bad_extents, 0};
  const Extents to{from[0], from[1] * b * b, from[2] / b, from[3] / b};
  const BoundTensor& result = operands.writes[0];
  const RunStatus status = set_extents(result, to);
  if (status.code != RunCode::ok) return status;
  const std::int64_t plane = to[2] * to[3];
  // A block is in front of the channels of the result, or behind them.
  const std::int64_t block_stride = parameters.is_behind ? plane : plane * from[1];
  const std::int64_t channel_stride = parameters.is_behind ? plane * b * b : plane;
  StridedCopy copy;
  copy.add(to[0], plane * to[1], plane * to[1]);
  copy.add(b, from[3], block_stride * b);
  copy.add(b, 1, block_stride);
  copy.add(from[1], from[2] * from[3], channel_stride);
  copy.add(to[2], from[3] * b, to[3]);
  copy.add(to[3], b, 1);
  copy.run(*operands.reads[0].bytes, *result.bytes, element_bytes(result.dtype), team);
  return {};
}

struct TriluParameters {
  bool is_upper = true;
};

RunStatus run_trilu(const TriluParameters& parameters, const Operands& operands, Team& /*team*/) {
  const BoundTensor& read = operands.reads[0];
  const Extents from(extents_of(read));
  if (from.rank() < 2) return {RunCode::bad_extents, 0};
  if (has_operand(operands.reads, 1) && count_of(operands.reads[1]) != 1) return {RunCode::bad_extents, 1};
  const std::int64_t given = has_operand(operands.reads, 1) ? *elements<std::int64_t>(operands.reads[1]) : 0;
  const BoundTensor& result = operands.writes[0];
  if (const RunStatus status = set_extents(result, from); status.code != RunCode::ok) return status;
  const std::int64_t rows = from[from.rank() - 2];
  const std::int64_t columns = from[from.rank() - 1];
  const std::int64_t diagonal = std::clamp(given, -rows, columns);
  const int bytes = element_bytes(read.dtype);
  for (std::int64_t row = 0; row < from.product(0, from.rank() - 1); ++row) {
    // Columns from `edge` on are on or above the diagonal; those of a lower triangle end behind it.
    const std::int64_t edge =
        std::clamp<std::int64_t>(row % rows + diagonal + (parameters.is_upper ? 0 : 1), 0, columns);
    const std::int64_t begin = parameters.is_upper ? edge : 0;
    const std::int64_t end = parameters.is_upper ? columns : edge;
    std::byte* to = *result.bytes + row * columns * bytes;
    std::memset(to, 0, static_cast<std::size_t>(begin * bytes));
    copy_bytes(*read.bytes + (row * columns + begin) * bytes, to + begin * bytes, (end - begin) * bytes);
    std::memset(to + end * bytes, 0, static_cast<std::size_t>((columns - end) * bytes));
  }
  return {};
}

std::string missing_trilu(const Graph& graph, const Node& node) {
  const bool is_known = node.inputs.size() < 2 || !node.inputs[1] || graph.tensor(*node.inputs[1]).dtype == DType::i64;
  return is_known ? "" : "the diagonal is not i64";
}

template <typename Parameters, PlainRun<Parameters> run>
PreparedResult prepare_axis(const PrepareInput& input) {
  return plain_kernel(input, run, Parameters{integer_attribute(node_of(input), "axis", 0)});
}
PreparedResult prepare_split(const PrepareInput& input) {
  SplitParameters parameters{integer_attribute(node_of(input), "axis", 0), {}};
  if (const auto* sizes = integers_attribute(node_of(input), "split")) parameters.sizes = *sizes;
  return plain_kernel(input, &run_split, std::move(parameters));
}
PreparedResult prepare_transpose(const PrepareInput& input) {
  const std::vector<std::int64_t>* order = integers_attribute(node_of(input), "perm");
  return plain_kernel(input, &run_transpose,
                      TransposeParameters{order == nullptr ? std::vector<std::int64_t>() : *order});
}
template <PlainRun<BlockParameters> run>
PreparedResult prepare_moved_blocks(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(
      input, run,
      BlockParameters{integer_attribute(node, "blocksize", 0), text_attribute(node, "mode", "DCR") == "CRD"});
}
template <PlainRun<NoneRead> run>
PreparedResult prepare_simple(const PrepareInput& input) {
  return plain_kernel(input, run, NoneRead{});
}
PreparedResult prepare_trilu(const PrepareInput& input) {
  return plain_kernel(input, &run_trilu, TriluParameters{integer_attribute(node_of(input), "upper", 1) != 0});
}

// Sorted by type.
constexpr std::array kMovementTable{
    PlainOperator{
        .op = on_moved("Concat"), .prepare = &prepare_axis<AxisParameter, &run_concat>, .missing = &missing_concat},
    PlainOperator{.op = on_moved("DepthToSpace"), .prepare = &prepare_moved_blocks<&run_depth_to_space>},
    PlainOperator{.op = on_moved("Expand"), .operands = 2, .prepare = &prepare_simple<&run_expand>},
    PlainOperator{.op = on_moved("SpaceToDepth"), .prepare = &prepare_moved_blocks<&run_space_to_depth>},
    PlainOperator{.op = on_moved("Split"), .prepare = &prepare_split},
    PlainOperator{.op = on_moved("Tile"), .operands = 2, .prepare = &prepare_simple<&run_tile>},
    PlainOperator{.op = on_moved("Transpose"), .prepare = &prepare_transpose, .missing = &missing_transpose},
    PlainOperator{.op = on_moved("Trilu"), .prepare = &prepare_trilu, .missing = &missing_trilu},
};
constexpr std::array kMovementOperators = operators_of(kMovementTable);

}  // namespace

Family movement_family() {
  return {.name = "movement",
          .operators = kMovementOperators,
          .offer = [](const OfferInput& input) { return offer_from(kMovementTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kMovementTable, input); }};
}

}  // namespace lowtide::kernels_internal
