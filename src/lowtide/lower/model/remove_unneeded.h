// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide {

// Removes the nodes that a run does not need:
//   - pure nodes whose results nothing needs;
//   - nodes whose result 0 is their operand 0: Identity, Cast to the same element type, Dropout outside of training, or
//     Dropout in training with a ratio that is 0 in `table`, which has the bytes of the model's constants; and, where
//     the extents and the integers that they follow from are known, Pad by nothing, Slice of all elements with steps of
//     1, Expand, Tile and Concat of one tensor. The readers of the result read the operand instead. Such a node stays
//     if its result is needed at the end, or if a Dropout has a mask that is read, or if both tensors differ in type or
//     shape.
// So results have the same bits as before, and no output of the graph changes its name.
//
// Bodies are rewritten as well. Returns nullopt if nothing changes. Errors: those of GraphBuilder. O(edges log edges).
// Recursion only over bodies.
[[nodiscard]] Result<std::optional<Rewritten>> remove_unneeded(const Graph& graph,
                                                               const ConstantTable* table = nullptr);

}  // namespace lowtide
