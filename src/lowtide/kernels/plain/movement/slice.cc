// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/slice_axis.h"
#include "lowtide/kernels/common/strided_copy.h"
#include "lowtide/kernels/plain/movement/movement.h"

namespace lowtide::kernels_internal {
namespace {

// A list that is an input in newer opsets, and an attribute in older ones.
using OldList = std::optional<std::vector<std::int64_t>>;

OldList old_list(const PrepareInput& input, std::string_view name) {
  const std::vector<std::int64_t>* found = integers_attribute(node_of(input), name);
  return found == nullptr ? std::nullopt : OldList(*found);
}

// The list, `otherwise` if the node has none, or nullopt if it is invalid.
std::optional<Extents> list_of(const Operands& operands, std::size_t at, const OldList& old, const Extents& otherwise) {
  if (has_operand(operands.reads, at)) return integers_of(operands.reads[at]);
  if (!old) return otherwise;
  return old->size() > kMostAxes ? std::nullopt : std::optional(Extents(*old));
}

Extents all_axes(int rank) {
  Extents axes;
  for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

struct SliceParameters {
  OldList starts;
  OldList ends;
  OldList axes;
};

RunStatus run_slice(const SliceParameters& parameters, const Operands& operands, Team& team) {
  const BoundTensor& read = operands.reads[0];
  const Extents from(extents_of(read));
  const std::optional<Extents> starts = list_of(operands, 1, parameters.starts, {});
  const std::optional<Extents> ends = list_of(operands, 2, parameters.ends, {});
  if (!starts || !ends || starts->rank() != ends->rank()) return {RunCode::bad_extents, 1};
  const std::optional<Extents> axes = list_of(operands, 3, parameters.axes, all_axes(starts->rank()));
  Extents ones = *starts;
  for (int at = 0; at < ones.rank(); ++at) ones[at] = 1;
  const std::optional<Extents> steps = list_of(operands, 4, std::nullopt, ones);
  if (!axes || axes->rank() != starts->rank()) return {RunCode::bad_extents, 3};
  if (!steps || steps->rank() != starts->rank()) return {RunCode::bad_extents, 4};
  Extents to = from;
  Extents strides = dense_strides(from);
  std::int64_t begin = 0;
  for (int at = 0; at < axes->rank(); ++at) {
    const std::optional<int> axis = axis_in((*axes)[at], from.rank());
    if (!axis || (*steps)[at] == 0) return {RunCode::bad_extents, 3};
    const SliceAxis slice = slice_axis(from[*axis], (*starts)[at], (*ends)[at], (*steps)[at]);
    to[*axis] = slice.count;
    begin += slice.start * strides[*axis];
    strides[*axis] *= slice.step;
  }
  const BoundTensor& result = operands.writes[0];
  if (const RunStatus status = set_extents(result, to); status.code != RunCode::ok) return status;
  const Extents to_strides = dense_strides(to);
  StridedCopy copy;
  for (int axis = 0; axis < to.rank(); ++axis) copy.add(to[axis], strides[axis], to_strides[axis]);
  const int bytes = element_bytes(read.dtype);
  copy.run(*read.bytes + begin * bytes, *result.bytes, bytes, team);
  return {};
}

enum class PadMode : std::uint8_t { constant, reflect, edge, wrap };

struct PadParameters {
  PadMode mode = PadMode::constant;
  OldList pads;
  float value = 0;  // until opset 10
};

// The position in the operand that a position of the result has, counted from the first element of the operand.
// Returns -1 for an element that is the constant. Requires: extent > 0 unless the mode is `constant`.
std::int64_t source_of(PadMode mode, std::int64_t position, std::int64_t extent) {
  const auto modulo = [](std::int64_t value, std::int64_t period) { return ((value % period) + period) % period; };
  switch (mode) {
    case PadMode::edge: return std::clamp<std::int64_t>(position, 0, extent - 1);
    case PadMode::wrap: return modulo(position, extent);
    case PadMode::reflect: {
      if (extent == 1) return 0;
      const std::int64_t within = modulo(position, 2 * extent - 2);
      return std::min(within, 2 * extent - 2 - within);
    }
    default: return position >= 0 && position < extent ? position : -1;
  }
}

// Where the result begins in the operand, per axis: minus the padding in front.
struct PadPlan {
  Extents from;
  Extents to;
  Extents begin;
};

std::optional<PadPlan> pad_plan(const PadParameters& parameters, const Operands& operands) {
  PadPlan plan{Extents(extents_of(operands.reads[0])), {}, {}};
  const int rank = plan.from.rank();
  const std::optional<Extents> axes = list_of(operands, 3, std::nullopt, all_axes(rank));
  if (!axes) return std::nullopt;
  const bool is_input = has_operand(operands.reads, 1);
  const std::size_t of_attribute = parameters.pads ? parameters.pads->size() : 0;
  const std::int64_t given = is_input ? count_of(operands.reads[1]) : static_cast<std::int64_t>(of_attribute);
  if (given != std::int64_t{2} * axes->rank() || (is_input && operands.reads[1].dtype != DType::i64))
    return std::nullopt;
  const std::int64_t* pads = is_input ? elements<std::int64_t>(operands.reads[1]) : parameters.pads->data();
  plan.to = plan.from;
  plan.begin = Extents();
  for (int axis = 0; axis < rank; ++axis) plan.begin.push_back(0);
  for (int at = 0; at < axes->rank(); ++at) {
    const std::optional<int> axis = axis_in((*axes)[at], rank);
    if (!axis) return std::nullopt;
    const std::int64_t before = pads[at];
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    const std::int64_t after = pads[at + axes->rank()];
    if (std::abs(before) > kMost || std::abs(after) > kMost) return std::nullopt;
    plan.begin[*axis] = -before;
    plan.to[*axis] += before + after;
    const bool has_source = plan.from[*axis] > 0 || plan.to[*axis] == 0 || parameters.mode == PadMode::constant;
    if (!has_source) return std::nullopt;
  }
  return plan;
}

// Fills the result row by row along the last axis.
void pad_rows(const PadPlan& plan, PadMode mode, const std::byte* from, std::byte* to,
              std::span<const std::byte> constant) {
  const int last = plan.to.rank() - 1;
  const std::size_t bytes = constant.size();
  const Extents strides = dense_strides(plan.from);
  Extents index = plan.to;
  for (int axis = 0; axis < index.rank(); ++axis) index[axis] = 0;
  for (std::int64_t row = 0; row < plan.to.product(0, last); ++row) {
    std::int64_t begin = 0;
    for (int axis = 0; axis < last; ++axis) {
      const std::int64_t source = source_of(mode, index[axis] + plan.begin[axis], plan.from[axis]);
      begin = source < 0 || begin < 0 ? -1 : begin + source * strides[axis];
    }
    for (std::int64_t at = 0; at < plan.to[last]; ++at, to += bytes) {
      const std::int64_t source = begin < 0 ? -1 : source_of(mode, at + plan.begin[last], plan.from[last]);
      std::memcpy(to, source < 0 ? constant.data() : from + (begin + source) * static_cast<std::int64_t>(bytes), bytes);
    }
    for (int axis = last - 1; axis >= 0 && ++index[axis] == plan.to[axis]; --axis) index[axis] = 0;
  }
}

RunStatus run_pad(const PadParameters& parameters, const Operands& operands, Team& /*team*/) {
  const BoundTensor& read = operands.reads[0];
  const std::optional<PadPlan> plan = pad_plan(parameters, operands);
  if (!plan) return {RunCode::bad_extents, 1};
  const BoundTensor& result = operands.writes[0];
  if (const RunStatus status = set_extents(result, plan->to); status.code != RunCode::ok) return status;
  const auto bytes = static_cast<std::size_t>(element_bytes(read.dtype));
  std::array<std::byte, 8> constant{};
  if (has_operand(operands.reads, 2)) {
    if (count_of(operands.reads[2]) != 1) return {RunCode::bad_extents, 2};
    std::memcpy(constant.data(), *operands.reads[2].bytes, bytes);
  } else if (read.dtype == DType::f32) {
    std::memcpy(constant.data(), &parameters.value, sizeof parameters.value);
  }
  if (plan->to.rank() == 0) {
    std::memcpy(*result.bytes, *read.bytes, bytes);
  } else {
    pad_rows(*plan, parameters.mode, *read.bytes, *result.bytes, std::span(constant).first(bytes));
  }
  return {};
}

struct CropParameters {
  OldList axes;  // nullopt: all
};

// Takes the elements around the center of each axis, or puts zeros around them.
RunStatus run_center_crop(const CropParameters& parameters, const Operands& operands, Team& /*team*/) {
  const BoundTensor& read = operands.reads[0];
  PadPlan plan{Extents(extents_of(read)), Extents(extents_of(read)), {}};
  for (int axis = 0; axis < plan.from.rank(); ++axis) plan.begin.push_back(0);
  const std::optional<Extents> wanted = integers_of(operands.reads[1]);
  const std::size_t axes = parameters.axes ? parameters.axes->size() : static_cast<std::size_t>(plan.from.rank());
  if (!wanted || static_cast<std::size_t>(wanted->rank()) != axes) return {RunCode::bad_extents, 1};
  for (int at = 0; at < wanted->rank(); ++at) {
    const std::optional<int> axis =
        axis_in(parameters.axes ? (*parameters.axes)[static_cast<std::size_t>(at)] : at, plan.from.rank());
    if (!axis || (*wanted)[at] < 0) return {RunCode::bad_extents, 1};
    plan.to[*axis] = (*wanted)[at];
    const std::int64_t more = plan.from[*axis] - (*wanted)[at];
    plan.begin[*axis] = more / 2;  // rounded towards zero, so the end gets the odd element
  }
  if (const RunStatus status = set_extents(operands.writes[0], plan.to); status.code != RunCode::ok) return status;
  const auto bytes = static_cast<std::size_t>(element_bytes(read.dtype));
  constexpr std::array<std::byte, 8> kZero{};
  if (plan.to.rank() == 0) {
    std::memcpy(*operands.writes[0].bytes, *read.bytes, bytes);
  } else {
    pad_rows(plan, PadMode::constant, *read.bytes, *operands.writes[0].bytes, std::span(kZero).first(bytes));
  }
  return {};
}

PreparedResult prepare_center_crop(const PrepareInput& input) {
  return plain_kernel(input, &run_center_crop, CropParameters{old_list(input, "axes")});
}

std::optional<PadMode> pad_mode(const Node& node) {
  const std::string text = text_attribute(node, "mode", "constant");
  if (text == "constant") return PadMode::constant;
  if (text == "reflect") return PadMode::reflect;
  if (text == "edge") return PadMode::edge;
  return text == "wrap" ? std::optional(PadMode::wrap) : std::nullopt;
}

std::string missing_pad(const Graph& graph, const Node& node) {
  const bool has_value = node.inputs.size() > 2 && node.inputs[2];
  if (has_value && graph.tensor(*node.inputs[2]).dtype != graph.tensor(*node.inputs[0]).dtype) {
    return "the constant has another type than the operand";
  }
  return pad_mode(node) ? "" : "attribute 'mode' is not one of constant, reflect, edge and wrap";
}

PreparedResult prepare_pad(const PrepareInput& input) {
  return plain_kernel(input, &run_pad,
                      PadParameters{*pad_mode(node_of(input)), old_list(input, "pads"),
                                    static_cast<float>(number_attribute(node_of(input), "value", 0))});
}
PreparedResult prepare_slice(const PrepareInput& input) {
  return plain_kernel(input, &run_slice,
                      SliceParameters{old_list(input, "starts"), old_list(input, "ends"), old_list(input, "axes")});
}

// Sorted by type.
constexpr std::array kSliceTable{
    PlainOperator{.op = on_moved("CenterCropPad"), .operands = 2, .prepare = &prepare_center_crop},
    PlainOperator{.op = on_moved("Pad"), .prepare = &prepare_pad, .missing = &missing_pad},
    PlainOperator{.op = on_moved("Slice"), .prepare = &prepare_slice},
};
constexpr std::array kSliceOperators = operators_of(kSliceTable);

}  // namespace

Family slice_family() {
  return {.name = "slice",
          .operators = kSliceOperators,
          .offer = [](const OfferInput& input) { return offer_from(kSliceTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kSliceTable, input); }};
}

}  // namespace lowtide::kernels_internal
