// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/graph/graph.h"

namespace lowtide {

// What a node computes, without names, so that nodes of equal work in any models have equal texts: the operator, its
// attributes in the order of their names, the types of operands and results, and the content of operands that is known
// before the run.
//
//   Conv {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} (f32[1,3,8,8], f32[4,3,3,3], _) -> (f32[1,4,8,8])
//   ReduceSum {keepdims = 0} (f32[1,4,8,8], i64[2] = [2, 3]) -> (f32[1,4])
//
// The program of a chain or an epilogue has numbers in place of names. So has a body, of which the text has the hash
// (64-bit FNV-1a). O(length), with bodies.
[[nodiscard]] std::string work_text(const Graph& graph, NodeId node);

}  // namespace lowtide
