// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"
#include "lowtide/tflite/tflite_program/movement.h"

namespace lowtide::tflite_program_internal {
namespace {

using enum TfliteType;

Error misfit(const OperatorContext& context) {
  return context.invalid("output " + shape_text(context.output().shape) + " does not fit input " +
                         shape_text(context.input(0).shape));
}

// The bytes of an element, which is of one type in the input and in the output.
Result<std::int64_t> moved_bytes(const OperatorContext& context) {
  const TfliteTensor& from = context.input(0);
  const TfliteTensor& to = context.output();
  if (from.type != to.type) {
    return context.unsupported("it is from " + std::string(to_string(from.type)) + " to " +
                               std::string(to_string(to.type)));
  }
  return element_bytes(context, to);
}

// DEPTH_TO_SPACE, and the reverse: the channels of a pixel are a block of pixels, row by row.
Result<void> add_depth_and_space(OperatorContext& context) {
  const bool spreads = context.type() == "DEPTH_TO_SPACE";
  const Shape& wide = spreads ? context.output().shape : context.input(0).shape;
  const Shape& deep = spreads ? context.input(0).shape : context.output().shape;
  const std::int64_t block = context.option("block_size");
  LOWTIDE_TRY(const std::int64_t bytes, moved_bytes(context));
  constexpr std::int64_t kMost = std::int64_t{1} << 15;
  const bool fits = wide.size() == 4 && deep.size() == 4 && block > 0 && block < kMost && wide[0] == deep[0] &&
                    wide[1] == deep[1] * block && wide[2] == deep[2] * block && deep[3] == wide[3] * block * block;
  if (!fits) return misfit(context);
  const Shape wide_steps = steps_of(wide);
  const Shape deep_steps = steps_of(deep);
  Movement movement;
  const auto add_axis = [&](std::int64_t count, std::int64_t wide_step, std::int64_t deep_step) {
    movement.axes.push_back(spreads ? MovedAxis{count, deep_step, wide_step} : MovedAxis{count, wide_step, deep_step});
  };
  add_axis(deep[0], wide_steps[0], deep_steps[0]);
  add_axis(deep[1], block * wide_steps[1], deep_steps[1]);
  add_axis(block, wide_steps[1], block * wide[3]);
  add_axis(deep[2], block * wide_steps[2], deep_steps[2]);
  add_axis(block, wide_steps[2], wide[3]);
  add_axis(wide[3], 1, 1);
  return add_movement(context, movement, bytes, context.in(0), context.out());
}

Result<void> add_tile(OperatorContext& context) {
  const Shape& input = context.input(0).shape;
  const Shape& output = context.output().shape;
  LOWTIDE_TRY(const std::int64_t bytes, moved_bytes(context));
  LOWTIDE_TRY(const std::vector<std::int64_t> times, context.integers(1));
  if (times.size() != input.size() || output.size() != input.size()) return misfit(context);
  const Shape input_steps = steps_of(input);
  const Shape output_steps = steps_of(output);
  Movement movement;
  for (std::size_t at = 0; at < input.size(); ++at) {
    if (times[at] < 0 || checked_multiply(input[at], times[at]) != output[at]) return misfit(context);
    movement.axes.push_back({times[at], 0, input[at] * output_steps[at]});
    movement.axes.push_back({input[at], input_steps[at], output_steps[at]});
  }
  return add_movement(context, movement, bytes, context.in(0), context.out());
}

Result<void> add_broadcast_to(OperatorContext& context) {
  const Shape& output = context.output().shape;
  Shape input = context.input(0).shape;
  LOWTIDE_TRY(const std::int64_t bytes, moved_bytes(context));
  if (input.size() > output.size()) return misfit(context);
  input.insert(input.begin(), output.size() - input.size(), 1);
  const Shape input_steps = steps_of(input);
  const Shape output_steps = steps_of(output);
  Movement movement;
  for (std::size_t at = 0; at < output.size(); ++at) {
    if (input[at] != 1 && input[at] != output[at]) return misfit(context);
    movement.axes.push_back({output[at], input[at] == 1 ? 0 : input_steps[at], output_steps[at]});
  }
  return add_movement(context, movement, bytes, context.in(0), context.out());
}

Result<void> add_reverse(OperatorContext& context) {
  const Shape& shape = context.input(0).shape;
  LOWTIDE_TRY(const std::int64_t bytes, moved_bytes(context));
  LOWTIDE_TRY(const std::vector<std::int64_t> axes, context.integers(1));
  if (context.output().shape != shape) return misfit(context);
  const Shape steps = steps_of(shape);
  Movement movement;
  for (std::size_t at = 0; at < shape.size(); ++at) movement.axes.push_back({shape[at], steps[at], steps[at]});
  for (const std::int64_t stated : axes) {
    LOWTIDE_TRY(const std::size_t axis, context.axis(stated, shape.size()));
    if (movement.axes[axis].input_step < 0) return context.invalid("it names axis " + std::to_string(axis) + " twice");
    movement.input_start += (shape[axis] - 1) * steps[axis];
    movement.axes[axis].input_step = -steps[axis];
  }
  if (elements_of(shape) == 0) return {};
  return add_movement(context, movement, bytes, context.in(0), context.out());
}

// BATCH_TO_SPACE_ND and the reverse. The batches of `deep` are blocks of `wide`, without `before` and `after` places.
struct Blocks {
  std::vector<std::int64_t> extents;  // per axis after the first
  std::vector<std::int64_t> around;   // before and after each
};

// Adds the call for one place in all blocks. Place p of `deep` is place p * block + place - before of `wide`.
Result<void> add_block(OperatorContext& context, const Blocks& blocks, const std::vector<std::int64_t>& place,
                       std::int64_t bytes) {
  const bool spreads = context.type() == "BATCH_TO_SPACE_ND";
  const Shape& wide = spreads ? context.output().shape : context.input(0).shape;
  const Shape& deep = spreads ? context.input(0).shape : context.output().shape;
  const Shape wide_steps = steps_of(wide);
  const Shape deep_steps = steps_of(deep);
  std::int64_t batch = 0;
  std::int64_t wide_start = 0;
  std::int64_t deep_start = 0;
  std::vector<MovedAxis> axes = {{wide[0], wide_steps[0], deep_steps[0]}};
  for (std::size_t at = 1; at < wide.size(); ++at) {
    if (at > blocks.extents.size()) {
      axes.push_back({wide[at], wide_steps[at], deep_steps[at]});
      continue;
    }
    const std::int64_t block = blocks.extents[at - 1];
    const std::int64_t from = place[at - 1] - blocks.around[2 * at - 2];
    const std::int64_t first = from < 0 ? (-from + block - 1) / block : 0;
    const std::int64_t end = std::min(deep[at], from >= wide[at] ? 0 : (wide[at] - from + block - 1) / block);
    batch = batch * block + place[at - 1];
    wide_start += (first * block + from) * wide_steps[at];
    deep_start += first * deep_steps[at];
    axes.push_back({std::max<std::int64_t>(end - first, 0), block * wide_steps[at], deep_steps[at]});
  }
  deep_start += batch * wide[0] * deep_steps[0];
  Movement movement{.axes = axes, .input_start = wide_start, .output_start = deep_start};
  if (spreads) {
    for (MovedAxis& axis : movement.axes) std::swap(axis.input_step, axis.output_step);
    std::swap(movement.input_start, movement.output_start);
  }
  return add_movement(context, movement, bytes, context.in(0), context.out());
}

Result<Blocks> blocks_of_operator(const OperatorContext& context) {
  const bool spreads = context.type() == "BATCH_TO_SPACE_ND";
  const Shape& wide = spreads ? context.output().shape : context.input(0).shape;
  const Shape& deep = spreads ? context.input(0).shape : context.output().shape;
  Blocks blocks;
  LOWTIDE_TRY(blocks.extents, context.integers(1));
  LOWTIDE_TRY(blocks.around, context.integers(2));
  const std::size_t count = blocks.extents.size();
  if (wide.size() != deep.size() || count >= wide.size() || blocks.around.size() != 2 * count) return misfit(context);
  constexpr std::int64_t kMost = 256;
  std::int64_t batches = wide[0];
  std::int64_t calls = 1;
  for (std::size_t at = 0; at < count; ++at) {
    const std::int64_t block = blocks.extents[at];
    const std::int64_t before = blocks.around[2 * at];
    const std::int64_t after = blocks.around[2 * at + 1];
    constexpr std::int64_t kMostAround = std::int64_t{1} << 31;
    if (block < 1 || block > kMost || std::min(before, after) < 0 || std::max(before, after) > kMostAround ||
        deep[at + 1] * block != wide[at + 1] + before + after) {
      return misfit(context);
    }
    calls *= block;
    if (calls > kMost) return context.unsupported("its blocks have more than " + std::to_string(kMost) + " elements");
    batches *= block;
  }
  const bool is_rest_equal = std::equal(wide.begin() + 1 + static_cast<std::ptrdiff_t>(count), wide.end(),
                                        deep.begin() + 1 + static_cast<std::ptrdiff_t>(count));
  if (batches != deep[0] || !is_rest_equal) return misfit(context);
  return blocks;
}

// A constant of one element: 0, or the zero point.
COperand zero_of(OperatorContext& context, const TfliteTensor& tensor, std::int64_t bytes) {
  CConstant zero{.name = "padding", .type = *c_type(tensor.type), .shape = {1}};
  zero.bytes.assign(static_cast<std::size_t>(bytes), '\0');
  if (tensor.type == int8 || tensor.type == uint8) zero.bytes[0] = static_cast<char>(zero_point_of(tensor));
  return context.constant(std::move(zero));
}

Result<void> add_batch_and_space(OperatorContext& context) {
  LOWTIDE_TRY(const std::int64_t bytes, moved_bytes(context));
  LOWTIDE_TRY(const Blocks blocks, blocks_of_operator(context));
  if (context.type() == "SPACE_TO_BATCH_ND" &&
      std::ranges::any_of(blocks.around, [](std::int64_t places) { return places > 0; })) {
    if (const auto fault = zero_point_fault(context.output())) return context.invalid(*fault);
    const COperand zero = zero_of(context, context.output(), bytes);
    context.call("fill", {parameter("bytes", bytes), parameter("count", elements_of(context.output().shape))},
                 {zero, context.out()});
  }
  std::int64_t count = 1;
  for (const std::int64_t extent : blocks.extents) count *= extent;
  for (std::int64_t number = 0; number < count; ++number) {
    std::vector<std::int64_t> place(blocks.extents.size());
    std::int64_t rest = number;
    for (std::size_t at = place.size(); at-- > 0;) {
      place[at] = rest % blocks.extents[at];
      rest /= blocks.extents[at];
    }
    LOWTIDE_RETURN_IF_ERROR(add_block(context, blocks, place, bytes));
  }
  return {};
}

Result<void> add_gather(OperatorContext& context) {
  const Shape& input = context.input(0).shape;
  const TfliteTensor& places = context.input(1);
  LOWTIDE_TRY(const std::int64_t bytes, moved_bytes(context));
  LOWTIDE_TRY(const std::size_t axis, context.axis(context.option("axis"), input.size()));
  if (context.option("batch_dims") != 0) return context.unsupported("its option batch_dims is not supported");
  if (places.type != int32 && places.type != int64) {
    return context.unsupported("its places have type " + std::string(to_string(places.type)) +
                               "; supported are INT32 and INT64");
  }
  const auto at_axis = static_cast<std::ptrdiff_t>(axis);
  Shape expected(input.begin(), input.begin() + at_axis);
  expected.insert(expected.end(), places.shape.begin(), places.shape.end());
  expected.insert(expected.end(), input.begin() + at_axis + 1, input.end());
  if (expected != context.output().shape || elements_of(input) == 0) return misfit(context);
  context.call(
      places.type == int32 ? "gather_i32" : "gather_i64",
      {parameter("outer", elements_of(Shape(input.begin(), input.begin() + at_axis))), parameter("axis", input[axis]),
       parameter("bytes", elements_of(Shape(input.begin() + at_axis + 1, input.end())) * bytes),
       parameter("places", elements_of(places.shape))},
      {context.in(0), context.in(1), context.out()});
  return {};
}

constexpr std::size_t kPickedAxes = 4;  // of the kernel

// Each axis has a table of the places that it reads: those of the input, and before and after them their reflection.
Result<void> add_mirror_pad(OperatorContext& context) {
  const Shape& input = context.input(0).shape;
  LOWTIDE_TRY(const std::int64_t bytes, moved_bytes(context));
  LOWTIDE_TRY(const std::vector<std::int64_t> around, context.integers(1));
  if (context.output().shape.size() != input.size() || around.size() != 2 * input.size()) return misfit(context);
  if (input.size() > kPickedAxes) return context.unsupported("it has more than 4 axes");
  const std::int64_t edge = context.name_option("mode") == "SYMMETRIC" ? 0 : 1;  // elements that are not repeated
  std::vector<std::int64_t> counts(kPickedAxes - input.size(), 1);
  std::vector<std::int32_t> tables(kPickedAxes - input.size(), 0);
  const Shape steps = steps_of(input);
  for (std::size_t axis = 0; axis < input.size(); ++axis) {
    const std::int64_t extent = input[axis];
    const std::int64_t before = around[2 * axis];
    const std::int64_t after = around[2 * axis + 1];
    if (before < 0 || after < 0 || std::max(before, after) > extent - edge ||
        before + extent + after != context.output().shape[axis]) {
      return misfit(context);
    }
    for (std::int64_t at = -before; at < extent + after; ++at) {
      std::int64_t place = at < 0 ? -at - 1 + edge : at;
      if (at >= extent) place = 2 * extent - 1 - edge - at;
      tables.push_back(static_cast<std::int32_t>(place * steps[axis] * bytes));
    }
    counts.push_back(before + extent + after);
  }
  const COperand places = context.constant("places", tables);
  context.call("pick", {parameter("bytes", bytes), parameter("counts", counts)},
               {context.in(0), places, COperand(), context.out()});
  return {};
}

}  // namespace

std::vector<OperatorRow> rearrangement_rows() {
  return {{"BATCH_TO_SPACE_ND", 3, 1, &add_batch_and_space, {}},
          {"BROADCAST_TO", 1, 1, &add_broadcast_to, {}},
          {"DEPTH_TO_SPACE", 1, 1, &add_depth_and_space, {}},
          {"GATHER", 2, 1, &add_gather, {}},
          {"MIRROR_PAD", 2, 1, &add_mirror_pad, {}},
          {"REVERSE_V2", 2, 1, &add_reverse, {}},
          {"SPACE_TO_BATCH_ND", 3, 1, &add_batch_and_space, {}},
          {"SPACE_TO_DEPTH", 1, 1, &add_depth_and_space, {}},
          {"TILE", 2, 1, &add_tile, {}}};
}

}  // namespace lowtide::tflite_program_internal
