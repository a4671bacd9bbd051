// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/memory/inputs_in_arena.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lowtide/graph/builder.h"
#include "lowtide/graph/lowered.h"

namespace lowtide {
namespace {

NodeId add_caller(const Graph& graph, GraphBuilder& builder) {
  GraphBuilder::NodeSpec caller{.name = "inputs", .domain = std::string(kOwnDomain), .type = std::string(kCallerType)};
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

Result<std::optional<Rewritten>> place_inputs_in_arena(const Graph& graph) {
  if (graph.inputs().empty()) return std::optional<Rewritten>();
  GraphBuilder builder(graph.name());
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Role role = graph.tensor(id).role;
    const bool is_kept_outside = role == Role::constant || role == Role::state;
    builder.add_copy(graph, id, is_kept_outside ? role : Role::temporary);
  }
  const NodeId caller = add_caller(graph, builder);
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(graph, id);
    for (NodeId& before : spec.control_inputs) before = NodeId(before.value() + 1);
    if (!follows_another_node(graph, id)) spec.control_inputs = {caller};
    builder.add_node(std::move(spec));
  }
  builder.set_outputs(graph.outputs());
  for (const StateUpdate& update : graph.state_updates()) builder.add_state_update(update.state, update.next);
  Result<Graph> placed = std::move(builder).build();
  if (!placed) return placed.error();
  Origins origins;
  origins.nodes.push_back({});
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) origins.nodes.push_back({id});
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) origins.tensors.push_back({id});
  return std::optional(Rewritten{*std::move(placed), std::move(origins)});
}

}  // namespace lowtide
