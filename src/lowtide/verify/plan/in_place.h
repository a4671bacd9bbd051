// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/graph/graph.h"

namespace lowtide::verify_internal {

// Why the kernel of `node` may not write its result `output` over its operand `input`, if both start at the same byte.
// Returns an empty string if it may, which requires that
//   - the operator permits it (OperatorTraits::in_place) at every position of `input` among the node's inputs, and
//     `output` is output 0;
//   - both have elements with the same number of bits, and element i of the result needs no element of `input` except
//     i: the shapes are equal or, with InPlaceKind::any_input, differ only in leading extents of 1;
//   - a product with an epilogue reads `input` for the epilogue only;
//   - no broadcast repeats elements of `input`. An extent that is only an upper bound may be 1 at run time. With
//     InPlaceKind::any_input, no other input may then have an extent above 1 there.
// O(inputs x rank).
[[nodiscard]] std::string in_place_obstacle(const Graph& graph, NodeId node, TensorId input, TensorId output);

}  // namespace lowtide::verify_internal
