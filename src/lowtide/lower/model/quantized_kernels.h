// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide {

// Replaces the operators of a quantized model by operators on integers of 8 bits:
//
//   q -> DequantizeLinear -> x -> Conv -> y -> Relu -> z -> MaxPool -> m -> QuantizeLinear -> p       becomes
//   q -> QLinearConv -> Max -> MaxPool -> p
//
//   Conv                    QLinearConv, or with a bias lowtide::QLinearConv (graph/lowered.h)
//   MatMul, Gemm            QLinearMatMul, or with a bias or transB lowtide::QLinearMatMul
//   Relu                    Max with the zero point; nothing if the zero point is known to be the least integer
//   MaxPool, Concat, and    the same operator on integers
//   movement of elements
//   QuantizeLinear of a     nothing if both have the same scale and zero point
//   DequantizeLinear
//
// Other element-wise nodes, as an Add between such operators, are left to fuse_chains(), which makes one chain of the
// conversions and of the nodes between them. A DequantizeLinear that no node reads any more is removed. So the weights
// exist as integers only.
//
// A node is replaced if all of this holds:
//   - QuantizeLinear is the only reader of its result, or the only reader is such a Relu, MaxPool, Concat or movement.
//   - The operands of a product are results of DequantizeLinear, and so are those of the others, unless a node that is
//     replaced as well computes them. If their scale differs from that of the result, a QuantizeLinear is added.
//   - Conversions have f32 and integers of 8 bits, constants as scales and zero points, and one of both for all
//     elements. Weights may have one per output channel or column.
//   - A product adds at most 33,025 terms, so that its sum fits into 32 bits. Gemm has no factor, its first operand is
//     not transposed, and its bias is one row.
//   - No node waits for one of these nodes, or one of these nodes for another node.
// Scales must be positive and finite, as ONNX requires.
//
// Sums of products are exact, and those of the given graph have the rounding of f32. So a result of a product may
// differ by one from that of the given graph, provided that the rounding of its sum is less than half a quantum. It is
// equal if the scales are powers of two and the sums are below 2^24. All other replacements keep every bit.
//
// Bodies are rewritten as well. Returns nullopt if nothing changes. Errors: those of GraphBuilder. O(edges). Recursion
// only over bodies.
[[nodiscard]] Result<std::optional<Rewritten>> use_quantized_kernels(const Graph& graph);

}  // namespace lowtide
