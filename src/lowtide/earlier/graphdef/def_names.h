// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "lowtide/graph/graph.h"

// The names of a GraphDef that is made from a graph.
namespace lowtide::graphdef_internal {

// A name that TensorFlow accepts for a node: letters, digits and "._-/", of which only a letter, a digit or "." may be
// the first. Others become "_", and an "x" comes before a wrong first one.
[[nodiscard]] std::string valid_node_name(std::string_view name);

// Whether a GraphDef has the node as it is. Otherwise its operator is of another system, or graph_of_graphdef would
// take it for something else than this node: a Const, for example, is no node of a graph.
[[nodiscard]] bool is_own_node(const Graph& graph, NodeId id);

// The name of an operator in the GraphDef: its type if `is_own`. Others get the form that TensorFlow has for operators
// of other libraries, such as "Onnx>Conv" or "Com_microsoft>FusedConv".
[[nodiscard]] std::string name_of_def_op(const Operator& op, bool is_own);

// The name that a node should have: its own if its outputs are named after it, or else that of its first output.
[[nodiscard]] std::string wanted_name(const Graph& graph, NodeId id);

// "node" or "node:1"
[[nodiscard]] std::string name_of_port(const std::string& node, std::size_t port);

}  // namespace lowtide::graphdef_internal
