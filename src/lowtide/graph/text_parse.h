// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowtide/graph/builder.h"
#include "lowtide/graph/text_reader.h"

namespace lowtide::graph_internal {

// A name that is looked up after all declarations have been read, because lines may have any order.
struct NameUse {
  std::string name;
  TextPosition at;
};

// `after (y)` or `after (node 3)`.
struct ControlInput {
  NameUse tensor;
  std::optional<std::int64_t> node;
};

// A line `y, _ = Conv(x, w) "conv1" after (z) {...}`, before its names are looked up.
struct NodeLine {
  GraphBuilder::NodeSpec spec;
  TextPosition at;
  std::vector<std::optional<NameUse>> inputs;
  std::vector<std::optional<NameUse>> outputs;
  std::vector<ControlInput> control_inputs;
  std::vector<std::vector<std::pair<NameUse, TensorId>>> captures;  // by body: outer name, inner tensor
};

// Reads `graph "name" {...}`. First it reads all lines (text_parse.cc), then it looks up all names (text_link.cc).
class GraphParser {
 public:
  GraphParser(TextReader& reader, int nesting) : reader_(reader), nesting_(nesting) {}

  // Reads graph "name" [captures (...)] { ... }. Returns nullopt if the reader has an error.
  std::optional<Graph> parse();

 private:
  struct Declaration {
    TensorId id;
    TextPosition at;
    bool is_captured;
    std::optional<std::size_t> producer;  // index into nodes_
  };

  bool read_captures();
  bool read_statement();
  bool read_declaration();
  bool read_outputs();
  bool read_update();
  bool read_node();
  bool read_operator(NodeLine& line);
  bool read_inputs(NodeLine& line);
  bool read_control_inputs(NodeLine& line);
  bool read_attributes(NodeLine& line);
  bool read_body(std::string name, NodeLine& line);
  bool bind_captures(const Graph& graph, const GraphParser& body, NodeLine& line);
  bool read_types(NodeLine& line);
  bool read_tensor(std::vector<std::optional<NameUse>>& out);
  bool declare(const NameUse& name, Role role, bool is_captured);
  bool read_data(const GraphBuilder::TensorSpec& spec, Role role, std::optional<ConstantId>& out);
  bool claim_outputs(const NodeLine& line);
  bool look_up(const NameUse& use, TensorId& out);
  bool look_up(const std::vector<std::optional<NameUse>>& uses, std::vector<std::optional<TensorId>>& out);
  bool look_up_control_inputs(NodeLine& line);
  bool add_nodes();
  bool add_updates();

  TextReader& reader_;
  int nesting_;
  std::string name_;
  std::optional<GraphBuilder> builder_;
  std::unordered_map<std::string, Declaration> declared_;
  std::vector<NodeLine> nodes_;
  std::vector<NameUse> outputs_;
  std::vector<std::pair<NameUse, NameUse>> updates_;   // (state, next)
  std::vector<std::pair<NameUse, NameUse>> captures_;  // (inner, outer)
};

}  // namespace lowtide::graph_internal
