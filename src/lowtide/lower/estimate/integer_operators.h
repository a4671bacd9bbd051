// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide {

// What a target with integer kernels runs instead of a quantized model.
struct IntegerOperators {
  Rewritten rewritten;
  // Operators that read and write integers in the new graph, and real numbers in the given one; also those in bodies.
  std::int64_t operators = 0;
};

// In a quantized model, each operator reads results of DequantizeLinear, and QuantizeLinear makes integers of what it
// writes. So the tensors between these nodes are real numbers, but a target with integer kernels never makes them:
//
//   q -> DequantizeLinear -> x -> Conv -> y -> MaxPool -> z -> QuantizeLinear -> p       becomes
//   q -> Conv -> y -> MaxPool -> p       with integers y
//
// An operator reads and writes integers if
//   - each of its real inputs is a constant, the result of a DequantizeLinear, or written by such an operator, and at
//     least one is not a constant;
//   - each output that is used has QuantizeLinear as its only reader. Relu, Clip, MaxPool and operators that only move
//     elements may be in between, because they give the same integers before QuantizeLinear as after it;
//   - scales and zero points are constants.
// A view stays a view only if its input and output have the same tensors as scale and zero point. Otherwise its kernel
// has to scale each element, and the operator becomes lowtide::Requantize. So does a QuantizeLinear directly after a
// DequantizeLinear. A DequantizeLinear remains where other nodes read its result. Bodies are rewritten in
// the same way. What a node and its bodies pass to each other stays as it is.
//
// Because of rounding, the results differ from those of the given graph, so the new graph is only for estimates of
// memory. Requires: load-time work is still in the graph, because constants are dequantized there.
//
// Errors: those of GraphRewriter (over_limit). O((nodes + edges) log nodes).
[[nodiscard]] Result<IntegerOperators> use_integer_operators(const Graph& graph);

}  // namespace lowtide
