// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/c_source/graph_program/node_calls.h"

namespace lowtide::graph_program_internal {

// Loops over elements of several tensors at once. Along axis i there are counts[i] elements, and neighbors in tensor t
// are steps[t][i] elements apart.
struct Loops {
  Extents counts;
  std::vector<Extents> steps;
};

// Leaves out axes with one element, and makes one axis of two where all tensors allow it.
//
//   counts [1, 8, 4, 4], steps [128, 16, 4, 1] and [0, 1, 0, 0]     counts [8, 16], steps [16, 1] and [1, 0]
[[nodiscard]] Loops merged(const Loops& loops);

// The same loops with axes of one element in front, so that there are `axes`. nullopt: there are more.
[[nodiscard]] std::optional<Loops> with_axes(Loops loops, std::size_t axes);

// The steps of an operand that is broadcast to a result, from the first axis of the result on.
[[nodiscard]] Extents broadcast_steps(const Extents& operand, const Extents& result);

// Copies elements between a tensor and another one.
struct Movement {
  Loops loops;  // the input and the output
  std::int64_t input_start = 0;
  std::int64_t output_start = 0;
};

// The call that moves the elements. Errors: there are too many axes.
[[nodiscard]] Result<NodeCall> move_call(CType type, const Movement& movement, NodeOperand from, NodeOperand to);

// The call that copies a whole tensor.
[[nodiscard]] NodeCall copy_call(Bytes size, NodeOperand from, NodeOperand to);

}  // namespace lowtide::graph_program_internal
