// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// A chain is a set of element-wise nodes that run as one node, lowtide::Chain. The tensors between them need no memory.
//
//   a = Add(x, three)       x -+-> Add -> Clip -> Mul -> Div -> y        y = lowtide::Chain(x, three, zero, six)
//   b = Clip(a, zero, six)     '-------------------^
//   c = Mul(x, b)
//   y = Div(c, six)
//
// The attribute `program` is a list of texts. They are the lines of the text form (graph/text.h) of a graph whose
// inputs are the operands of the chain, in order, and whose nodes are those of the model, with their names.
//
// A chain on blocks of channels [N, ceil(C / b), ..., b] (target/formats.h) may have the attribute `channels`, which is
// C. Then it writes zeros into the lanes of the last block that have no channel.

inline constexpr std::size_t kMostFusedNodes = 32;
inline constexpr std::size_t kMostChainOperands = 16;
inline constexpr int kMostChainAxes = 8;

// Whether a chain may contain the node: an element-wise operator of ONNX on static f32, f16 or bool tensors, without
// control inputs, whose result has the shape of its operands after they are broadcast to each other. QuantizeLinear and
// DequantizeLinear are among them if one scale holds for all elements, which are f32 and integers of 8 bits.
// O(operands).
[[nodiscard]] bool may_be_in_chain(const Graph& graph, NodeId node);

// The chain of some nodes. It has the name and the result of the last one. Requires: the nodes are ascending,
// may_be_in_chain() holds for each, their results have one shape, only these nodes read the results except the last
// one, and the limits above hold. O(operands log operands).
[[nodiscard]] GraphBuilder::NodeSpec chain_of(const Graph& graph, const std::vector<NodeId>& nodes);

// The attribute `program` of a chain with this program, and the program that the attribute states. Errors: those of
// parse_graph.
[[nodiscard]] std::vector<std::string> chain_lines(const Graph& program);
[[nodiscard]] Result<Graph> chain_graph(const std::vector<std::string>& lines);

// Why a graph is no program of a chain with these operands and this result. Returns "" if it is one. An operand that is
// omitted is nullptr. O(length of the program).
[[nodiscard]] std::string chain_fault(const Graph& program, const std::vector<const Tensor*>& operands,
                                      const Tensor& result);

// The attribute `channels`. nullopt: it is absent.
[[nodiscard]] std::optional<std::int64_t> chain_channels(const Node& chain);

// The program of a node lowtide::Chain as a graph. Errors (invalid): the attribute is missing or is no graph; its
// inputs and its output differ in type from the operands and the result of the node; some node may not be in a chain;
// `channels` does not fit the blocks of the result; a limit is exceeded. O(length of the program).
[[nodiscard]] Result<Graph> chain_program(const Graph& graph, NodeId chain);

}  // namespace lowtide
