// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/graphdef/op_rules.h"
#include "lowtide/graph/graph.h"

// The types and sizes of a GraphDef that is made from a graph.
namespace lowtide::graphdef_internal {

// By tensor, 1 if its size was not known when its graph was imported with --unit-sizes, and 0 otherwise. Such a tensor
// counts as one byte, and operators that read or write it have the domain "tensorflow.unsized".
[[nodiscard]] IdVector<TensorId, std::uint8_t> unsized_tensors(const Graph& graph);

// Writes an input, a constant or a variable: its type, its shape, and the numbers of a constant that the graph knows.
// Returns false if they are not known.
bool add_source_types(DefNode& node, const Graph& graph, TensorId id, bool is_unsized);

// What graph_of_graphdef will know of each tensor before it looks at the nodes.
[[nodiscard]] KnownTensor known_of_tensor(const Graph& graph, TensorId id, bool is_unsized);

// Writes the shapes of the outputs of a node, and the types as well if graph_of_graphdef would not infer the same.
void add_output_types(DefNode& node, const Graph& graph, NodeId id, const IdVector<TensorId, std::uint8_t>& is_unsized,
                      bool is_own);

// Adds the attributes that TensorFlow asks for and that a graph written by hand may not have: T, N and others.
void add_missing_attributes(DefNode& node, const Graph& graph, NodeId id);

}  // namespace lowtide::graphdef_internal
