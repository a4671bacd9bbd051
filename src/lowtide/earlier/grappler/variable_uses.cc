// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/variable_uses.h"

#include <algorithm>
#include <utility>

#include "lowtide/earlier/graphdef/output_types.h"

namespace lowtide::grappler_internal {
namespace {

bool is_variable(const DefNode& node) {
  return node.op == "Variable" || node.op == "VariableV2" || node.op == "VarHandleOp";
}

std::size_t count_written_by(const DefNode& node) {
  const std::size_t count = count_written_inputs(node.op);
  return count == 0 && takes_reference(node, 0) ? 1 : count;
}

// Whether output 0 has the memory of input 0.
bool keeps_memory_of_input(const DefNode& node) {
  return shares_memory_of_input(node.op) || (count_written_by(node) > 0 && gives_reference(node));
}

// What each output is the memory of, from the variables on.
std::vector<std::optional<NodeIndex>> follow_memory(const TypedGraph& graph) {
  std::vector<std::optional<NodeIndex>> variable_of(graph.nodes.size());
  std::vector<NodeIndex> found;
  for (NodeIndex at = 0; at < graph.nodes.size(); ++at) {
    if (!is_variable(graph.nodes[at])) continue;
    variable_of[at] = at;
    found.push_back(at);
  }
  while (!found.empty()) {
    const NodeIndex source = found.back();
    found.pop_back();
    for (NodeIndex reader : graph.links.readers[source]) {
      const DefNode& node = graph.nodes[reader];
      const bool is_first = !node.inputs.empty() && !read_input(node.inputs.front()).is_control &&
                            graph.links.inputs[reader].front() == source;
      if (variable_of[reader] || !is_first || !keeps_memory_of_input(node)) continue;
      variable_of[reader] = variable_of[source];
      found.push_back(reader);
    }
  }
  return variable_of;
}

}  // namespace

VariableUses find_variable_uses(const TypedGraph& graph) {
  VariableUses uses{.variable_of = follow_memory(graph),
                    .writes = std::vector<std::vector<NodeIndex>>(graph.nodes.size()),
                    .is_written = std::vector<bool>(graph.nodes.size(), false)};
  for (NodeIndex at = 0; at < graph.nodes.size(); ++at) {
    const std::vector<NodeIndex>& inputs = graph.links.inputs[at];
    const std::size_t count = std::min(count_written_by(graph.nodes[at]), inputs.size());
    for (std::size_t input = 0; input < count; ++input) {
      const std::optional<NodeIndex> variable = uses.variable_of[inputs[input]];
      if (!variable) continue;
      uses.is_written[*variable] = true;
      uses.writes[at].push_back(*variable);
    }
  }
  return uses;
}

}  // namespace lowtide::grappler_internal
