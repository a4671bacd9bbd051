// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/plain_claims.h"

#include <algorithm>

namespace lowtide::testing {
namespace {

bool is_alive_as_given(const Graph& graph, TensorId id, NodeId now) {
  const Tensor& tensor = graph.tensor(id);
  if (now < *tensor.producer) return false;
  if (now == *tensor.producer || tensor.role == Role::output) return true;
  for (NodeId later : all_ids<NodeId>(graph.nodes().size())) {
    const auto reads = graph.reads(later);
    if (now <= later && std::find(reads.begin(), reads.end(), id) != reads.end()) return true;
  }
  return false;
}

}  // namespace

std::vector<Bytes> plain_arenas(const Plan& plan) {
  std::vector<Bytes> arenas(plan.regions.size());
  for (const Buffer& buffer : plan.buffers) {
    if (!buffer.placement) continue;
    Bytes& arena = arenas[buffer.placement->region.index()];
    arena = std::max(arena, buffer.placement->offset + buffer.size - Offset(0));
  }
  return arenas;
}

Bytes plain_load(const Plan& plan) {
  Bytes most;
  for (StepId step : all_ids<StepId>(plan.program.size())) {
    Bytes load;
    for (const Buffer& buffer : plan.buffers) {
      if (buffer.placement && buffer.lifespan.contains(step)) load += buffer.size;
    }
    most = std::max(most, load);
  }
  return most;
}

Bytes plain_load_as_given(const Graph& graph) {
  Bytes most;
  for (NodeId now : all_ids<NodeId>(graph.nodes().size())) {
    Bytes load;
    for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
      if (graph.tensor(id).producer && is_alive_as_given(graph, id, now)) load += graph.tensor(id).size;
    }
    Bytes inside;
    for (const Body& body : graph.node(now).bodies) {
      Bytes one = plain_load_as_given(*body.graph);
      for (TensorId input : body.graph->inputs()) one += body.graph->tensor(input).size;
      inside = std::max(inside, one);
    }
    most = std::max(most, load + inside);
  }
  return most;
}

}  // namespace lowtide::testing
