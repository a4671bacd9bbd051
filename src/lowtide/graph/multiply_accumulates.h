// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/graph/graph.h"

namespace lowtide {

// The number of multiply-accumulate operations (MACs) of one run of a node: the products that it sums. It follows from
// the shapes and attributes.
//
//   Conv, ConvInteger, QLinearConv, DeformConv   elements of the result x (input channels of a group x window)
//   ConvTranspose                                elements of the input x (output channels of a group x window)
//   MatMul, MatMulInteger, QLinearMatMul, Gemm   elements of the result x the extent that is summed
//   RNN, GRU, LSTM                               steps x batch x elements of W and R
//   Attention                                    query x keys for the scores, and keys x result for the sums
//   Einsum of two operands, without an ellipsis  the product of the extents of all letters; 0 if it sums over none
//   LinearClassifier, LinearRegressor            rows of the operand x coefficients
//
// The fused operators of ONNX Runtime count like the operators that they contain. Every position of a window counts,
// also those in the padding, as in published figures. Bias, elementwise operators, pooling, normalization,
// interpolation and an Einsum of one operand do not sum products, so their number is 0. It is also 0 for a node with
// bodies, because the nodes of its bodies are counted themselves. If an extent is an upper bound, so is the number.
//
// Returns nullopt if the number is not known: an operator that Lowtide does not know, one that sums products by another
// rule (DFT, a sum over three operands of Einsum), operands that do not fit the rule, or more than 2^63 - 1.
// O(inputs + extents + attributes).
[[nodiscard]] std::optional<std::int64_t> multiply_accumulates(const Graph& graph, NodeId node);

}  // namespace lowtide
