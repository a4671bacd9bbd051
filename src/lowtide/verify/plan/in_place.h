// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/graph/graph.h"

namespace lowtide::verify_internal {

// Why the kernel of `node` may not write its result `output` over its operand `input`, both starting at the same byte;
// empty: it may. It may if
//   - the operator permits it (OperatorTraits::in_place) for every place where `input` is among the node's inputs,
//     and `output` is output 0;
//   - both have elements of the same bits, and element i of the result needs no element of `input` but i: the same
//     shape, or one that differs in leading extents of 1 only;
//   - no other input repeats `input`, which matters where an extent is only an upper bound: at the run it may be 1.
// O(inputs x rank).
[[nodiscard]] std::string in_place_obstacle(const Graph& graph, NodeId node, TensorId input, TensorId output);

}  // namespace lowtide::verify_internal
