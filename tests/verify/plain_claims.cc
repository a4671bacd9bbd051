// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/plain_claims.h"

#include <algorithm>
#include <optional>
#include <set>

namespace lowtide::testing {
namespace {

bool is_next_state(const Graph& graph, TensorId id) {
  return std::any_of(graph.state_updates().begin(), graph.state_updates().end(),
                     [&](const StateUpdate& update) { return update.next == id; });
}

bool is_alive_as_given(const Graph& graph, TensorId id, NodeId now) {
  const Tensor& tensor = graph.tensor(id);
  if (now < *tensor.producer) return false;
  if (now == *tensor.producer || tensor.role == Role::output || is_next_state(graph, id)) return true;
  for (NodeId later : all_ids<NodeId>(graph.nodes().size())) {
    const auto reads = graph.reads(later);
    if (now <= later && std::find(reads.begin(), reads.end(), id) != reads.end()) return true;
  }
  return false;
}

}  // namespace

std::vector<Bytes> plain_arenas(const Plan& plan) {
  std::vector<Bytes> arenas(plan.machine.regions.size());
  for (const Buffer& buffer : plan.layout.buffers) {
    if (!buffer.placement) continue;
    Bytes& arena = arenas[buffer.placement->region.index()];
    arena = std::max(arena, buffer.placement->offset + buffer.size - Offset(0));
  }
  return arenas;
}

namespace {

Bytes unproven_scratch(const StepSpace& space, const Plan& plan, BoundScope scope) {
  Bytes arena, bound;
  for (const BodyPlan& body : space.bodies) {
    const Bytes own = body.plan->layout.arena.size() == 1 ? body.plan->layout.arena[0] : Bytes(0);
    arena = std::max(arena, own);
    for (const Bound& claimed : body.plan->claims.bounds) {
      if (claimed.scope >= scope) bound = std::max(bound, std::min(own, claimed.bytes));
    }
  }
  return space.scratch ? std::min(arena - bound, plan.layout.buffers[*space.scratch].size) : Bytes(0);
}

bool is_in_arena(const Plan& plan, const Buffer& buffer) {
  if (!buffer.placement) return false;
  const RegionId region = buffer.placement->region;
  for (const Worker& worker : plan.machine.workers) {
    const std::vector<RegionId>& list = worker.addressable;
    if (list.empty() || std::count(list.begin(), list.end(), region) > 0) return true;
  }
  return false;
}

// `proven`: bodies count with their bounds for this scope. If it is nullopt, they count with their arenas.
Bytes largest_load(const Plan& plan, std::optional<BoundScope> proven) {
  Bytes most;
  if (plan.program.steps.empty()) {  // one moment, in which everything lives
    for (const Buffer& buffer : plan.layout.buffers) most += is_in_arena(plan, buffer) ? buffer.size : Bytes(0);
  }
  for (StepId step : all_ids<StepId>(plan.program.steps.size())) {
    Bytes load;
    for (const Buffer& buffer : plan.layout.buffers) {
      if (!is_in_arena(plan, buffer)) continue;
      for (const BufferPart& part : buffer.parts) load += part.lifespan.contains(step) ? part.size : Bytes(0);
      if (buffer.parts.empty() && buffer.lifespan.contains(step)) load += buffer.size;
    }
    if (proven) load -= unproven_scratch(plan.layout.steps[step], plan, *proven);
    most = std::max(most, load);
  }
  return most;
}

std::optional<RegionId> region_of(const Plan& plan, ValueId value) {
  const Buffer& buffer = plan.layout.buffers[plan.layout.values[value].buffer];
  return buffer.placement ? buffer.placement->region : buffer.home;
}

}  // namespace

Bytes plain_load(const Plan& plan) { return largest_load(plan, std::nullopt); }

Bytes plain_proven_load(const Plan& plan, BoundScope scope) { return largest_load(plan, scope); }

// Whether the caller, or a step that is not an alias, uses this value.
bool is_used_as_such(const Plan& plan, ValueId value) {
  for (const Step& step : plan.program.steps) {
    if (!is_alias(step) && std::count(step.reads.begin(), step.reads.end(), value) > 0) return true;
  }
  const std::vector<ValueId>& outputs = plan.program.outputs;
  return std::count(outputs.begin(), outputs.end(), value) > 0;
}

BoundScope plain_scope(const Plan& plan) {
  std::set<NodeId> ran;
  for (const Step& step : plan.program.steps) {
    if (!is_copy(step) && !ran.insert(*node_of(step)).second) return BoundScope::all_plans;
    if (!is_copy(step)) continue;
    const std::optional<RegionId> from = region_of(plan, step.reads[0]);
    const std::optional<RegionId> to = region_of(plan, step.writes[0]);
    if (from && to && *from != *to) return BoundScope::all_plans;
    const std::vector<ValueId>& updates = plan.program.updates;
    const bool is_update = std::count(updates.begin(), updates.end(), step.writes[0]) > 0;
    if (!is_update && is_used_as_such(plan, step.writes[0])) return BoundScope::all_plans;
  }
  for (const StepSpace& space : plan.layout.steps) {
    for (const BodyPlan& body : space.bodies) {
      if (plain_scope(*body.plan) == BoundScope::all_plans) return BoundScope::all_plans;
    }
  }
  return BoundScope::chosen_kernels;
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
