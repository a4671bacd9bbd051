// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// An operator that has a kernel. docs/operators.md is written from the list of all of them.
struct SupportedOperator {
  std::string_view domain;        // "" for the standard ONNX domain
  std::string_view type;          // "Relu"
  std::span<const DType> dtypes;  // of its first operand or, without operands, of its result
};

// All operators with a kernel, sorted by domain and type, each once. Valid until the program ends.
[[nodiscard]] const std::vector<SupportedOperator>& supported_operators();

// A node without kernel.
struct UnsupportedNode {
  NodeId node;          // of the graph or body that `path` names
  std::string path;     // "" for the graph itself; "loop/body/" for the body of node 'loop'
  std::string name;     // node_name()
  std::string type;     // full_name(Operator)
  std::string missing;  // "no kernel has this operator", "input 'x' is i64, and kernels have f32"
};

// All nodes without kernel, those of bodies included. Nodes that room `runtime` runs itself are not listed: those with
// bodies, and the caller (is_caller). Nodes that a plan runs only as aliases need no kernel, but are listed.
// O(nodes). Recursion only over bodies.
[[nodiscard]] std::vector<UnsupportedNode> unsupported(const Graph& graph);

// The error (unsupported) that names all of these nodes at once. Requires: there is at least one.
[[nodiscard]] Error unsupported_error(const std::vector<UnsupportedNode>& nodes);

}  // namespace lowtide
