// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/inputs_in_arena.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/graph/builder.h"

namespace lowtide {
namespace {

void add_tensors(const Graph& graph, GraphBuilder& builder) {
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    const bool is_kept_outside = tensor.role == Role::constant || tensor.role == Role::state;
    builder.add_tensor({tensor.name, tensor.dtype, tensor.shape, tensor.is_captured},
                       is_kept_outside ? tensor.role : Role::temporary);
    if (const auto* content = graph.known_integers(id)) builder.set_known_integers(id, *content);
  }
}

NodeId add_caller(const Graph& graph, GraphBuilder& builder) {
  GraphBuilder::NodeSpec caller{.name = "inputs", .domain = "lowtide", .type = "Inputs"};
  for (TensorId input : graph.inputs()) caller.outputs.emplace_back(input);
  return builder.add_node(std::move(caller));
}

bool follows_another_node(const Graph& graph, NodeId id) {
  const auto is_made_before = [&](TensorId read) {
    return graph.tensor(read).producer || graph.tensor(read).role == Role::input;
  };
  return !graph.node(id).control_inputs.empty() ||
         std::any_of(graph.reads(id).begin(), graph.reads(id).end(), is_made_before);
}

}  // namespace

Result<Graph> place_inputs_in_arena(const Graph& graph) {
  GraphBuilder builder(graph.name());
  add_tensors(graph, builder);
  const NodeId caller = add_caller(graph, builder);
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Node& node = graph.node(id);
    const Operator& op = graph.op(id);
    GraphBuilder::NodeSpec spec{node.name,    op.domain, op.type,         node.inputs,
                                node.outputs, {},        node.attributes, node.bodies};
    for (NodeId before : node.control_inputs) spec.control_inputs.push_back(NodeId(before.value() + 1));
    if (!follows_another_node(graph, id)) spec.control_inputs = {caller};
    builder.add_node(std::move(spec));
  }
  builder.set_outputs(graph.outputs());
  for (const StateUpdate& update : graph.state_updates()) builder.add_state_update(update.state, update.next);
  return std::move(builder).build();
}

}  // namespace lowtide
