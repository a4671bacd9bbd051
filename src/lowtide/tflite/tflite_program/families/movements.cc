// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"
#include "lowtide/tflite/tflite_program/movement.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

Error unfit(const OperatorContext& context, const Shape& input, const Shape& output) {
  return context.invalid("output " + shape_text(output) + " does not fit input " + shape_text(input));
}

Result<void> check_same_type(const OperatorContext& context, const TfliteTensor& from, const TfliteTensor& to) {
  if (from.type == to.type) return {};
  return context.unsupported("it is from " + std::string(to_string(from.type)) + " to " +
                             std::string(to_string(to.type)));
}

// The number of elements along the axes [begin, end).
std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  return elements_of(
      Shape(shape.begin() + static_cast<std::ptrdiff_t>(begin), shape.begin() + static_cast<std::ptrdiff_t>(end)));
}

// Moves between a whole tensor and the part of another that begins at `start` along an axis. `part` and `whole` are
// extents along that axis, `outer` and `inner` the elements before and after it.
struct Share {
  std::int64_t outer = 1;
  std::int64_t part = 1;
  std::int64_t whole = 1;
  std::int64_t inner = 1;
  std::int64_t start = 0;
};

Movement into(const Share& share) {
  const std::int64_t piece = share.part * share.inner;
  return {.axes = {{share.outer, piece, share.whole * share.inner}, {piece, 1, 1}},
          .output_start = share.start * share.inner};
}

Movement out_of(const Share& share) {
  const std::int64_t piece = share.part * share.inner;
  return {.axes = {{share.outer, share.whole * share.inner, piece}, {piece, 1, 1}},
          .input_start = share.start * share.inner};
}

Result<void> add_concatenation(OperatorContext& context) {
  const TfliteTensor& to = context.output();
  if (const auto fault = zero_point_fault(to)) return context.invalid(*fault);
  if (context.name_option("fused_activation_function") != "NONE") {
    return context.unsupported("an activation of its result is not supported; make it an operator of its own");
  }
  LOWTIDE_TRY(const std::size_t axis, context.axis(context.option("axis"), to.shape.size()));
  LOWTIDE_TRY(const std::int64_t bytes, element_bytes(context, to));
  Share share{.outer = product(to.shape, 0, axis),
              .whole = to.shape[axis],
              .inner = product(to.shape, axis + 1, to.shape.size())};
  for (std::size_t at = 0; at < context.input_count(); ++at) {
    if (!context.has_input(at)) return context.invalid("input " + std::to_string(at) + " is missing");
    const TfliteTensor& from = context.input(at);
    LOWTIDE_RETURN_IF_ERROR(check_same_type(context, from, to));
    if (const auto fault = zero_point_fault(from)) return context.invalid(*fault);
    if (from.type == int8 && (scale_of(from) != scale_of(to) || zero_point_of(from) != zero_point_of(to))) {
      return context.invalid("its inputs and its output have different scales or zero points");
    }
    Shape expected = to.shape;
    if (from.shape.size() == expected.size()) expected[axis] = from.shape[axis];
    if (from.shape != expected || share.start + from.shape[axis] > share.whole) {
      return unfit(context, from.shape, to.shape);
    }
    share.part = from.shape[axis];
    LOWTIDE_RETURN_IF_ERROR(add_movement(context, into(share), bytes, context.in(at), context.out()));
    share.start += share.part;
  }
  if (share.start != share.whole) return context.invalid("its inputs do not fill its output");
  return {};
}

// SPLIT and SPLIT_V: all outputs are parts of one input, one after another.
Result<void> add_parts(OperatorContext& context, std::size_t input, std::int64_t stated_axis) {
  const TfliteTensor& from = context.input(input);
  LOWTIDE_TRY(const std::size_t axis, context.axis(stated_axis, from.shape.size()));
  LOWTIDE_TRY(const std::int64_t bytes, element_bytes(context, from));
  Share share{.outer = product(from.shape, 0, axis),
              .whole = from.shape[axis],
              .inner = product(from.shape, axis + 1, from.shape.size())};
  LOWTIDE_RETURN_IF_ERROR(context.check_operands(input + 1, context.output_count()));
  for (std::size_t at = 0; at < context.output_count(); ++at) {
    const TfliteTensor& to = context.output(at);
    LOWTIDE_RETURN_IF_ERROR(check_same_type(context, from, to));
    Shape expected = from.shape;
    if (to.shape.size() == expected.size()) expected[axis] = to.shape[axis];
    if (to.shape != expected || share.start + to.shape[axis] > share.whole) return unfit(context, from.shape, to.shape);
    share.part = to.shape[axis];
    LOWTIDE_RETURN_IF_ERROR(add_movement(context, out_of(share), bytes, context.in(input), context.out(at)));
    share.start += share.part;
  }
  if (share.start != share.whole) return context.invalid("its outputs do not hold its input");
  return {};
}

Result<std::int64_t> only_integer(const OperatorContext& context, std::size_t input) {
  LOWTIDE_TRY(const std::vector<std::int64_t> numbers, context.integers(input));
  if (numbers.size() != 1) return context.invalid("input " + std::to_string(input) + " is not one number");
  return numbers.front();
}

Result<void> add_split(OperatorContext& context) {
  LOWTIDE_TRY(const std::int64_t axis, only_integer(context, 0));
  return add_parts(context, 1, axis);
}

Result<void> add_split_v(OperatorContext& context) {
  LOWTIDE_TRY(const std::int64_t axis, only_integer(context, 2));
  return add_parts(context, 0, axis);
}

// PACK: inputs become neighbors along a new axis. UNPACK is the reverse.
Result<void> add_packing(OperatorContext& context, bool is_pack) {
  const TfliteTensor& whole = is_pack ? context.output() : context.input(0);
  const std::size_t parts = is_pack ? context.input_count() : context.output_count();
  LOWTIDE_RETURN_IF_ERROR(context.check_operands(is_pack ? parts : 1, is_pack ? 1 : parts));
  LOWTIDE_TRY(const std::size_t axis, context.axis(context.option("axis"), whole.shape.size()));
  LOWTIDE_TRY(const std::int64_t bytes, element_bytes(context, whole));
  Share share{.outer = product(whole.shape, 0, axis),
              .whole = whole.shape[axis],
              .inner = product(whole.shape, axis + 1, whole.shape.size())};
  if (static_cast<std::int64_t>(parts) != share.whole) {
    return context.invalid("axis " + std::to_string(axis) + " has " + std::to_string(share.whole) + " places for " +
                           std::to_string(parts) + " tensors");
  }
  Shape expected = whole.shape;
  expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(axis));
  for (std::size_t at = 0; at < parts; ++at) {
    const TfliteTensor& part = is_pack ? context.input(at) : context.output(at);
    LOWTIDE_RETURN_IF_ERROR(check_same_type(context, part, whole));
    if (part.shape != expected) return unfit(context, part.shape, whole.shape);
    share.start = static_cast<std::int64_t>(at);
    LOWTIDE_RETURN_IF_ERROR(is_pack ? add_movement(context, into(share), bytes, context.in(at), context.out())
                                    : add_movement(context, out_of(share), bytes, context.in(0), context.out(at)));
  }
  return {};
}

Result<void> add_pack(OperatorContext& context) { return add_packing(context, true); }
Result<void> add_unpack(OperatorContext& context) { return add_packing(context, false); }

Result<void> add_transpose(OperatorContext& context) {
  const TfliteTensor& from = context.input(0);
  const TfliteTensor& to = context.output();
  LOWTIDE_RETURN_IF_ERROR(check_same_type(context, from, to));
  LOWTIDE_TRY(const std::int64_t bytes, element_bytes(context, to));
  LOWTIDE_TRY(const std::vector<std::int64_t> order, context.integers(1));
  const Shape input_steps = steps_of(from.shape);
  const Shape output_steps = steps_of(to.shape);
  if (order.size() != from.shape.size() || to.shape.size() != from.shape.size()) {
    return unfit(context, from.shape, to.shape);
  }
  std::vector<bool> is_used(order.size(), false);
  Movement movement;
  for (std::size_t at = 0; at < order.size(); ++at) {
    LOWTIDE_TRY(const std::size_t axis, context.axis(order[at], order.size()));
    if (is_used[axis] || to.shape[at] != from.shape[axis]) return unfit(context, from.shape, to.shape);
    is_used[axis] = true;
    movement.axes.push_back({to.shape[at], input_steps[axis], output_steps[at]});
  }
  return add_movement(context, movement, bytes, context.in(0), context.out());
}

// Each place of the output that the input does not fill gets the zero point, or the number of PADV2.
Result<COperand> padding_element(OperatorContext& context) {
  if (context.has_input(2)) {
    if (context.input(2).type != context.output().type || elements_of(context.input(2).shape) != 1) {
      return context.invalid("the number that it pads with is not one of the output");
    }
    return context.in(2);
  }
  const TfliteTensor& to = context.output();
  if (const auto fault = zero_point_fault(to)) return context.invalid(*fault);
  LOWTIDE_TRY(const std::int64_t bytes, element_bytes(context, to));
  CConstant zero{.name = "padding", .type = *c_type(to.type), .shape = {1}};
  zero.bytes.assign(static_cast<std::size_t>(bytes), '\0');
  if (to.type == int8 || to.type == uint8) zero.bytes[0] = static_cast<char>(zero_point_of(to));
  return context.constant(std::move(zero));
}

Result<void> add_pad(OperatorContext& context) {
  const TfliteTensor& from = context.input(0);
  const TfliteTensor& to = context.output();
  LOWTIDE_RETURN_IF_ERROR(check_same_type(context, from, to));
  LOWTIDE_TRY(const std::int64_t bytes, element_bytes(context, to));
  LOWTIDE_TRY(const std::vector<std::int64_t> around, context.integers(1));
  if (around.size() != 2 * from.shape.size() || to.shape.size() != from.shape.size()) {
    return unfit(context, from.shape, to.shape);
  }
  const Shape input_steps = steps_of(from.shape);
  const Shape output_steps = steps_of(to.shape);
  Movement movement;
  for (std::size_t at = 0; at < from.shape.size(); ++at) {
    const std::int64_t before = around[2 * at];
    const std::int64_t after = around[2 * at + 1];
    if (before < 0 || after < 0 || before > to.shape[at] || to.shape[at] - before - after != from.shape[at]) {
      return unfit(context, from.shape, to.shape);
    }
    movement.output_start += before * output_steps[at];
    movement.axes.push_back({from.shape[at], input_steps[at], output_steps[at]});
  }
  if (elements_of(from.shape) != elements_of(to.shape)) {
    LOWTIDE_TRY(const COperand element, padding_element(context));
    context.call("fill", {parameter("bytes", bytes), parameter("count", elements_of(to.shape))},
                 {element, context.out()});
  }
  return add_movement(context, movement, bytes, context.in(0), context.out());
}

Result<void> add_slice(OperatorContext& context) {
  const TfliteTensor& from = context.input(0);
  const TfliteTensor& to = context.output();
  LOWTIDE_RETURN_IF_ERROR(check_same_type(context, from, to));
  LOWTIDE_TRY(const std::int64_t bytes, element_bytes(context, to));
  LOWTIDE_TRY(const std::vector<std::int64_t> begin, context.integers(1));
  LOWTIDE_TRY(const std::vector<std::int64_t> extents, context.integers(2));
  const std::size_t rank = from.shape.size();
  if (begin.size() != rank || extents.size() != rank || to.shape.size() != rank) {
    return unfit(context, from.shape, to.shape);
  }
  const Shape input_steps = steps_of(from.shape);
  const Shape output_steps = steps_of(to.shape);
  Movement movement;
  for (std::size_t at = 0; at < rank; ++at) {
    const bool is_inside = begin[at] >= 0 && begin[at] <= from.shape[at];
    const std::int64_t extent = extents[at] == -1 ? from.shape[at] - begin[at] : extents[at];
    if (!is_inside || extent != to.shape[at] || extent > from.shape[at] - begin[at]) {
      return unfit(context, from.shape, to.shape);
    }
    movement.input_start += begin[at] * input_steps[at];
    movement.axes.push_back({extent, input_steps[at], output_steps[at]});
  }
  return add_movement(context, movement, bytes, context.in(0), context.out());
}

// One axis of STRIDED_SLICE.
struct Stride {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
  bool has_begin = true;
  bool has_end = true;
  bool is_single = false;  // only the place `begin`, without an axis of the output
};

// The first place and the number of places, for an axis with this extent.
std::pair<std::int64_t, std::int64_t> places_of(const Stride& stride, std::int64_t extent) {
  const std::int64_t low = stride.step > 0 ? 0 : -1;
  const std::int64_t high = stride.step > 0 ? extent : extent - 1;
  const auto clamped = [&](std::int64_t place) { return std::clamp(place < 0 ? place + extent : place, low, high); };
  const std::int64_t begin = stride.has_begin ? clamped(stride.begin) : (stride.step > 0 ? low : high);
  if (stride.is_single) return {begin, 1};
  const std::int64_t end = stride.has_end ? clamped(stride.end) : (stride.step > 0 ? high : low);
  const std::int64_t distance = stride.step > 0 ? end - begin : begin - end;
  const std::int64_t step = stride.step > 0 ? stride.step : -stride.step;
  return {begin, distance > 0 ? (distance + step - 1) / step : 0};
}

Result<std::vector<Stride>> strides_of(const OperatorContext& context, std::size_t rank) {
  for (std::string_view mask : {"ellipsis_mask", "new_axis_mask", "offset"}) {
    if (context.option(mask) != 0) return context.unsupported("its option " + std::string(mask) + " is not supported");
  }
  LOWTIDE_TRY(const std::vector<std::int64_t> begin, context.integers(1));
  LOWTIDE_TRY(const std::vector<std::int64_t> end, context.integers(2));
  LOWTIDE_TRY(const std::vector<std::int64_t> steps, context.integers(3));
  if (begin.size() != rank || end.size() != rank || steps.size() != rank || rank > 31) {
    return context.invalid("its begins, ends and strides do not have one number for each axis of its input");
  }
  std::vector<Stride> strides;
  for (std::size_t at = 0; at < rank; ++at) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    if (steps[at] == 0 || std::max({begin[at], end[at], steps[at]}) > kMost ||
        std::min({begin[at], end[at], steps[at]}) < -kMost) {
      return context.invalid("axis " + std::to_string(at) + " has begin " + std::to_string(begin[at]) + ", end " +
                             std::to_string(end[at]) + " and stride " + std::to_string(steps[at]) +
                             "; a stride is not 0, and all have at most 32 bits");
    }
    const auto has = [&](std::string_view mask) { return (context.option(mask) >> at & 1) != 0; };
    strides.push_back({begin[at], end[at], steps[at], !has("begin_mask"), !has("end_mask"), has("shrink_axis_mask")});
  }
  return strides;
}

Result<void> add_strided_slice(OperatorContext& context) {
  const TfliteTensor& from = context.input(0);
  const TfliteTensor& to = context.output();
  LOWTIDE_RETURN_IF_ERROR(check_same_type(context, from, to));
  LOWTIDE_TRY(const std::int64_t bytes, element_bytes(context, to));
  LOWTIDE_TRY(const std::vector<Stride> strides, strides_of(context, from.shape.size()));
  const Shape input_steps = steps_of(from.shape);
  Movement movement;
  Shape extents;
  Shape kept;
  for (std::size_t at = 0; at < strides.size(); ++at) {
    const auto [begin, count] = places_of(strides[at], from.shape[at]);
    const bool is_inside = begin >= 0 && begin < from.shape[at];
    if (count > 0 && !is_inside) return context.invalid("it begins outside of its input");
    movement.input_start += count > 0 ? begin * input_steps[at] : 0;
    movement.axes.push_back({count, strides[at].step * input_steps[at], 0});
    extents.push_back(count);
    if (!strides[at].is_single) kept.push_back(count);
  }
  if (kept != to.shape) return unfit(context, from.shape, to.shape);
  const Shape output_steps = steps_of(extents);
  for (std::size_t at = 0; at < extents.size(); ++at) movement.axes[at].output_step = output_steps[at];
  for (MovedAxis& axis : movement.axes) {
    if (axis.count <= 1) axis.input_step = 0;
  }
  return add_movement(context, movement, bytes, context.in(0), context.out());
}

}  // namespace

std::vector<OperatorRow> movement_rows() {
  return {{"CONCATENATION", 1, 1, &add_concatenation, {}},
          {"PACK", 1, 1, &add_pack, {}},
          {"PAD", 2, 1, &add_pad, {}},
          {"PADV2", 3, 1, &add_pad, {}},
          {"SLICE", 3, 1, &add_slice, {}},
          {"SPLIT", 2, 1, &add_split, {}, 1},
          {"SPLIT_V", 3, 1, &add_split_v, {}},
          {"STRIDED_SLICE", 4, 1, &add_strided_slice, {}},
          {"TRANSPOSE", 2, 1, &add_transpose, {}},
          {"UNPACK", 1, 1, &add_unpack, {}}};
}

}  // namespace lowtide::tflite_program_internal
