// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/earlier/proto/message.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

struct GraphDefOfGraph {
  ProtoMessage graphdef;
  std::vector<std::string> lost;  // what the GraphDef does not have: "the content of constants"
};

// Turns any graph into a GraphDef, from which graph_of_graphdef makes the same graph again, except for what is lost. An
// input is a Placeholder, a constant a Const, and a state a VariableV2, or a VarHandleOp if its readers need one.
//
//   - Operators of the domain "tensorflow" are themselves. Others have no meaning in TensorFlow, and are for display:
//     Conv of ONNX is "Onnx>Conv".
//   - A node is named after its outputs. Names that TensorFlow does not accept are changed.
//   - Sizes are in _output_shapes. What a GraphDef has no place for, such as the original names, is in attributes that
//     begin with "_lowtide_". TensorFlow ignores these.
//   - Constants have content only if it is known to the graph and a list of integers of at most 4,096 elements. Others
//     are zeros, and say so by "_lowtide_no_content".
//   - Bodies are left out. The node waits for what they read.
//
// O(size of the graph, log).
[[nodiscard]] GraphDefOfGraph graphdef_of_graph(const Graph& graph);

}  // namespace lowtide
