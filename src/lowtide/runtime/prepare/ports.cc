// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/lowered.h"
#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide::runtime_internal {
namespace {

Port port_of(const Graph& graph, TensorId id, bool is_in_arena) {
  const Tensor& tensor = graph.tensor(id);
  return {id, tensor.name, tensor.dtype, tensor.shape, tensor.size, is_in_arena};
}

bool is_placed(const Layout& layout, ValueId value) {
  return layout.buffers[layout.values[value].buffer].placement.has_value();
}

}  // namespace

void list_ports(Prepared& prepared) {
  const Graph& graph = prepared.graph;
  for (TensorId id : graph.inputs()) prepared.inputs.push_back(port_of(graph, id, false));
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (!is_caller(graph.op(id))) continue;
    for (const std::optional<TensorId>& output : graph.node(id).outputs) {
      if (output) prepared.inputs.push_back(port_of(graph, *output, true));
    }
  }
  for (std::size_t at = 0; at < graph.outputs().size(); ++at) {
    const ValueId value = prepared.plan.program.outputs[at];
    prepared.outputs.push_back(port_of(graph, graph.outputs()[at], is_placed(prepared.plan.layout, value)));
  }
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (graph.tensor(id).role == Role::state) prepared.states.push_back(port_of(graph, id, false));
  }
}

}  // namespace lowtide::runtime_internal
