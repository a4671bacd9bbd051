// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide {

// Makes one node, lowtide::Chain, of connected element-wise nodes (graph/chain.h). The tensors between them disappear.
//
//   x -> Add -> Clip -> Mul(x, .) -> Div -> y        becomes        x -> Chain -> y
//
// A node joins the node that reads its result, if all of this holds, and for both nodes:
//   - A chain may contain the node (may_be_in_chain), and no node waits for it.
//   - Only nodes of the chain read its result, which is not needed at the end and has the shape of the chain's result.
// So no path leaves a chain and enters it again, and no tensor that disappears is read elsewhere. The chain computes
// each element with the functions of the separate kernels, in the same order, so the results have the same bits.
//
// A node stays out where the chain would keep more bytes in memory: its own operands, which would have to wait for an
// operand of the chain that comes later in the order as given.
//
// Bodies are rewritten as well. Returns nullopt if nothing changes. Errors: those of GraphBuilder. O(edges log edges).
// Recursion only over bodies.
[[nodiscard]] Result<std::optional<Rewritten>> fuse_chains(const Graph& graph);

// Makes only those chains whose operands are integers of 8 bits and constants, and whose result is an integer: each is
// an operator that a target with integer kernels runs. A chain ends with its QuantizeLinear.
//
//   p -> DequantizeLinear -.
//   q -> DequantizeLinear -+-> Add -> QuantizeLinear -> r        becomes        p, q -> Chain -> r
//
// Otherwise as fuse_chains().
[[nodiscard]] Result<std::optional<Rewritten>> fuse_integer_chains(const Graph& graph);

}  // namespace lowtide
