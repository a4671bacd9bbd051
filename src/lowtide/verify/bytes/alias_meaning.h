// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide::verify_internal {

// Bytes of an output that are bytes of an input, by the meaning of the operator.
struct SameBytes {
  std::size_t operand = 0;  // index into Graph::operands; a concat may read one tensor twice
  TensorId input;           // that operand
  std::int64_t input_begin = 0;
  TensorId output;
  std::int64_t output_begin = 0;
  std::int64_t length = 0;  // > 0
};

// How the outputs of a node follow from its inputs without a computation.
struct AliasMeaning {
  std::string obstacle;  // why they do not; empty if they do, and then `parts` cover all bytes of all outputs
  std::vector<SameBytes> parts;
};

// Derived from shapes, attributes and integers known before the run, never from a plan:
//   Reshape, Squeeze, Unsqueeze, Flatten, Identity      same type and number of bytes
//   Dropout                                             the same, if not in training and without a mask
//   Expand, Tile                                        the same, and no upper bounds: nothing is repeated then
//   Transpose                                           the same, if the axes it moves past each other have extent 1
//   Slice                                               one contiguous run of elements
//   Split                                               consecutive parts: axes before the split one have extent 1,
//                                                       or one part is all of the input
//   Concat                                              the same for the operands
// All of them from Expand on prove nothing if an extent is only an upper bound. Slice, Split and Concat prove nothing
// if a part of a type below 8 bits starts inside a byte, or ends inside a byte that holds a further element.
// O(rank^2 + inputs + outputs).
[[nodiscard]] AliasMeaning alias_meaning(const Graph& graph, NodeId node);

// Whether a Dropout may drop elements at random, because its training mode is not known to be off.
[[nodiscard]] bool may_be_training(const Graph& graph, NodeId node);

}  // namespace lowtide::verify_internal
