// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/memory/outputs_at_caller.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/graph/builder.h"

namespace lowtide {
namespace {

void add_callers_memory(const Graph& graph, GraphBuilder& builder) {
  std::set<std::string, std::less<>> names;
  for (const Tensor& tensor : graph.tensors()) names.insert(tensor.name);
  for (TensorId id : graph.outputs()) {
    const Tensor& output = graph.tensor(id);
    std::string name = output.name;
    do name += " (caller)";
    while (!names.insert(name).second);
    builder.add_state_update(builder.add_tensor({name, output.dtype, output.shape, false}, Role::state), id);
  }
}

}  // namespace

Result<std::optional<Rewritten>> place_outputs_at_caller(const Graph& graph) {
  if (graph.outputs().empty()) return std::optional<Rewritten>();
  GraphBuilder builder(graph.name());
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Role role = graph.tensor(id).role;
    builder.add_copy(graph, id, role == Role::output ? Role::temporary : role);
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) builder.add_node(GraphBuilder::spec_of(graph, id));
  for (const StateUpdate& update : graph.state_updates()) builder.add_state_update(update.state, update.next);
  add_callers_memory(graph, builder);
  Result<Graph> placed = std::move(builder).build();
  if (!placed) return placed.error();
  Origins origins;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) origins.nodes.push_back({id});
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) origins.tensors.push_back({id});
  while (origins.tensors.size() < placed->tensors().size()) origins.tensors.push_back({});
  return std::optional(Rewritten{*std::move(placed), std::move(origins)});
}

}  // namespace lowtide
