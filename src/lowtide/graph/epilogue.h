// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// An epilogue is a chain (graph/chain.h) that a product computes on its results before it writes them. The tensor
// between both needs no memory.
//
//   t = MatMul(x, w) "mul"                       y = lowtide::MatMul(x, w, _, r) "relu" {product = "mul", epilogue = [
//   a = Add(r, t) "add"                              "input t : f32[4,8]", "input r : f32[4,8]",
//   y = Relu(a) "relu"                               "a = Add(r, t) \"add\" : f32[4,8]", ..., "output y"]}
//
// A product is a lowtide::Conv, a lowtide::PackedMatMul, a Gemm or a MatMul; the last two get the domain "lowtide". Its
// operands are the first three; an omitted bias keeps its position. Those of the epilogue follow. The attribute
// `product` is the name of the node without its epilogue, and `epilogue` is a program as of a chain. Its first input is
// the result of the product, under the name that it has without the epilogue.
//
// The result is that of the product followed by the chain, where the functions may differ from those of a chain in the
// last bits (kernels/onednn/epilogue.h). In blocks of channels, lanes without a channel are zero.
inline constexpr std::size_t kProductOperands = 3;

// Whether a node has an epilogue. O(attributes).
[[nodiscard]] bool has_epilogue(const Node& node);

// Whether a node may get an epilogue: a product with one result, without an epilogue, whose last operand is not
// omitted.
[[nodiscard]] bool may_have_epilogue(const Graph& graph, NodeId node);

// A chain, or an element-wise node that may be in one, as the epilogue of the product whose result it reads.
struct EpilogueParts {
  Graph program;
  std::vector<TensorId> operands;  // one per input of the program, except the first one
};
// Returns nullopt if the node is neither, if it has other types than the product's result, or if it does not read this
// result. O(length of the program).
[[nodiscard]] std::optional<EpilogueParts> epilogue_parts(const Graph& graph, NodeId product, NodeId chain);

// The product with an epilogue. It has the name and the result of `chain`.
[[nodiscard]] GraphBuilder::NodeSpec with_epilogue(const Graph& graph, NodeId product, NodeId chain,
                                                   const EpilogueParts& parts);

// The program of a node with an epilogue. Errors (invalid): the attribute is no graph; its inputs and its output differ
// in type from the operands of the epilogue and the result of the node; some node may not be in a chain; a limit of
// chains is exceeded. O(length of the program).
[[nodiscard]] Result<Graph> epilogue_program(const Graph& graph, NodeId node);

}  // namespace lowtide
