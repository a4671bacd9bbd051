// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/proto/message.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// Whether a file that begins with these bytes is a GraphDef of TensorFlow: a text that begins with one of its fields,
// or a binary message whose first node has a name and an operator. O(bytes).
[[nodiscard]] bool is_graphdef(std::string_view begin);

// Reads both forms of GraphDef. Errors: those of read_proto_binary and read_proto_text.
[[nodiscard]] Result<ProtoMessage> read_graphdef(std::string_view bytes);

struct GraphDefOptions {
  std::map<std::string, std::vector<std::int64_t>> shapes;  // by tensor, "node" or "node:1"; the graph must have it
  std::map<std::string, std::vector<std::int64_t>> listed_shapes = {};  // the same for tensors that it need not have
  bool unit_sizes = false;  // tensors of unknown size count as one byte; otherwise the graph is refused
};

struct GraphOfGraphDef {
  Graph graph;
  std::vector<std::string> notes;
};

// Turns a GraphDef into a graph. Output 0 of a node has the name of the node, output k is "node:k". Operators have the
// domain "tensorflow", or "tensorflow.unsized" for those with an operand or a result of unknown size, which are not
// counted.
//   - Placeholder is an input, Const a constant, and a variable a state, without a node.
//   - The results of Assign, ReadVariableOp and others that return a variable are that variable. Their readers also
//     have them as control inputs.
//   - Nodes that read a variable that a node writes have the domain "tensorflow.once", because they cannot run again.
//   - Control inputs "^node" stay. Results that no node reads are outputs, which a note says.
// Shapes are those that rules infer from the inputs (docs/graphdef.md), of the attribute _output_shapes, or given.
// Errors: invalid (a name twice, an input that does not exist, a shape of an absent tensor, a cycle, shapes that
// contradict each other); unsupported (functions; loops); unresolved, with the names of tensors of unknown type;
// over_limit. O(size of the file, log).
[[nodiscard]] Result<GraphOfGraphDef> graph_of_graphdef(const ProtoMessage& graphdef,
                                                        const GraphDefOptions& options = {});

}  // namespace lowtide
