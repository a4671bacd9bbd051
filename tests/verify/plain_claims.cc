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

namespace {

Bytes unproven_scratch(const Plan& plan, StepId step) {
  Bytes arena, bound;
  for (const BodyPlan& body : plan.program[step].bodies) {
    const Bytes own = body.plan->arena.size() == 1 ? body.plan->arena[0] : Bytes(0);
    arena = std::max(arena, own);
    bound = std::max(bound, std::min(own, body.plan->claims.bound));
  }
  const auto& scratch = plan.program[step].scratch;
  return scratch ? std::min(arena - bound, plan.buffers[*scratch].size) : Bytes(0);
}

Bytes largest_load(const Plan& plan, bool as_proven) {
  Bytes most;
  if (plan.program.empty()) {  // one moment, in which everything lives
    for (const Buffer& buffer : plan.buffers) most += buffer.placement ? buffer.size : Bytes(0);
  }
  for (StepId step : all_ids<StepId>(plan.program.size())) {
    Bytes load;
    for (const Buffer& buffer : plan.buffers) {
      if (!buffer.placement) continue;
      for (const BufferPart& part : buffer.parts) load += part.lifespan.contains(step) ? part.size : Bytes(0);
      if (buffer.parts.empty() && buffer.lifespan.contains(step)) load += buffer.size;
    }
    most = std::max(most, as_proven ? load - unproven_scratch(plan, step) : load);
  }
  return most;
}

}  // namespace

Bytes plain_load(const Plan& plan) { return largest_load(plan, false); }

Bytes plain_proven_load(const Plan& plan) { return largest_load(plan, true); }

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
