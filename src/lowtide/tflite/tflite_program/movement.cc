// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/movement.h"

#include <cstddef>
#include <optional>
#include <string>

namespace lowtide::tflite_program_internal {
namespace {

constexpr std::size_t kMovementLoops = 5;  // of the kernel

// The same movement, with axes joined where one loop can go through both.
std::vector<MovedAxis> joined(const std::vector<MovedAxis>& axes) {
  std::vector<MovedAxis> result;
  for (const MovedAxis& axis : axes) {
    if (axis.count == 1) continue;
    if (!result.empty()) {
      MovedAxis& outer = result.back();
      if (outer.input_step == axis.count * axis.input_step && outer.output_step == axis.count * axis.output_step) {
        outer = {outer.count * axis.count, axis.input_step, axis.output_step};
        continue;
      }
    }
    result.push_back(axis);
  }
  return result;
}

}  // namespace

Shape steps_of(const Shape& shape) {
  Shape steps(shape.size(), 1);
  for (std::size_t at = shape.size(); at-- > 1;) steps[at - 1] = steps[at] * shape[at];
  return steps;
}

Result<std::int64_t> element_bytes(const OperatorContext& context, const TfliteTensor& tensor) {
  const std::optional<CType> type = c_type(tensor.type);
  if (!type)
    return context.unsupported("elements of type " + std::string(to_string(tensor.type)) + " are not supported");
  return size_of(*type);
}

Result<void> add_movement(OperatorContext& context, const Movement& movement, std::int64_t bytes, const COperand& from,
                          const COperand& to) {
  for (const MovedAxis& axis : movement.axes) {
    if (axis.count == 0) return {};
  }
  std::vector<MovedAxis> axes = joined(movement.axes);
  std::int64_t piece = bytes;
  if (!axes.empty() && axes.back().input_step == 1 && axes.back().output_step == 1) {
    piece *= axes.back().count;
    axes.pop_back();
  }
  if (axes.size() > kMovementLoops) return context.unsupported("it has more than 5 axes that move apart");
  axes.insert(axes.begin(), kMovementLoops - axes.size(), MovedAxis{});
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> input_steps;
  std::vector<std::int64_t> output_steps;
  for (const MovedAxis& axis : axes) {
    counts.push_back(axis.count);
    input_steps.push_back(axis.input_step * bytes);
    output_steps.push_back(axis.output_step * bytes);
  }
  context.call("move",
               {parameter("bytes", piece), parameter("counts", counts), parameter("input_steps", input_steps),
                parameter("output_steps", output_steps), parameter("input_start", movement.input_start * bytes),
                parameter("output_start", movement.output_start * bytes)},
               {from, to});
  return {};
}

}  // namespace lowtide::tflite_program_internal
