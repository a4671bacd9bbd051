// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide::verify_internal {

// "These bytes of the output are those bytes of the input", by what the operator means.
struct SameBytes {
  std::size_t operand = 0;  // of Graph::operands; a concat may read one tensor twice
  TensorId input;           // that operand
  std::int64_t input_begin = 0;
  TensorId output;
  std::int64_t output_begin = 0;
  std::int64_t length = 0;  // > 0
};

// How a node's outputs follow from its inputs without a computation.
struct AliasMeaning {
  std::string obstacle;  // why that cannot be shown; empty: it can, and `parts` cover all bytes of all outputs
  std::vector<SameBytes> parts;
};

// Derived from shapes, attributes and integers known before the run, never from a plan:
//   Reshape, Squeeze, Unsqueeze, Flatten, Identity      same type, as many bytes
//   Dropout                                             the same, if not in training and without a mask
//   Expand, Tile                                        the same: then nothing is repeated
//   Slice                                               one contiguous run of elements
//   Split                                               consecutive parts: axes before the split one have extent 1
//   Concat                                              the same for the operands
// Slice, Split and Concat over extents that are only upper bounds prove nothing, nor do parts of types below 8 bits
// that start or end inside a byte. O(rank + inputs + outputs).
[[nodiscard]] AliasMeaning alias_meaning(const Graph& graph, NodeId node);

// Whether a Dropout may drop elements at random: nothing says that its training mode is off.
[[nodiscard]] bool may_be_training(const Graph& graph, NodeId node);

}  // namespace lowtide::verify_internal
