// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>

#include "lowtide/base/quote.h"
#include "lowtide/graph/body_names.h"
#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide::runtime_internal {
namespace {

// The value that the step reads for a tensor outside of its body.
ValueId captured_value(const PreparedGraph& in, StepId id, NodeId node, TensorId tensor) {
  const std::vector<TensorId> operands = in.graph.operands(node);
  const auto found = std::find(operands.begin(), operands.end(), tensor);
  LOWTIDE_CHECK(found != operands.end(), "what a body captures is an operand of its node");
  return in.plan.program.steps[id].reads[static_cast<std::size_t>(found - operands.begin())];
}

// Appends the bodies that a step runs.
void append_bodies(Prepared& prepared, PreparedGraphId around, const BodyNames& names, StepId step) {
  const std::vector<BodyPlan>& plans = prepared.graphs[around].plan.layout.steps[step].bodies;
  if (plans.empty()) return;
  const NodeId id = *node_of(prepared.graphs[around].plan.program.steps[step]);
  for (std::size_t at = 0; at < plans.size(); ++at) {
    const PreparedGraph& outer = prepared.graphs[around];
    const Node& node = outer.graph.node(id);
    const Body& body = node.bodies[at];
    Offset arena = outer.arena;
    if (const std::optional<BufferId> scratch = outer.plan.layout.steps[step].scratch) {
      arena = arena + Bytes(outer.plan.layout.buffers[*scratch].placement->offset.position()) +
              Bytes(plans[at].offset.position());
    }
    PreparedGraph inner{.graph = *body.graph,
                        .plan = *plans[at].plan,
                        .path = outer.path + names.prefix(id, body),
                        .around = AroundBody{around, step},
                        .arena = arena};
    for (const auto& [tensor, in_body] : body.captures) {
      inner.captures.push_back({captured_value(outer, step, id, tensor), in_body});
    }
    prepared.graphs.push_back(std::move(inner));
  }
}

}  // namespace

void list_graphs(Prepared& prepared) {
  prepared.graphs.push_back({.graph = prepared.graph, .plan = prepared.plan, .path = "", .around = {}, .arena = {}});
  for (PreparedGraphId id = kMainGraph; prepared.graphs.contains(id); id = PreparedGraphId(id.value() + 1)) {
    const std::size_t steps = prepared.graphs[id].plan.program.steps.size();
    const BodyNames names(prepared.graphs[id].graph);
    for (StepId step : all_ids<StepId>(steps)) append_bodies(prepared, id, names, step);
  }
  for (PreparedGraph& one : prepared.graphs) {
    for (TensorId id : all_ids<TensorId>(one.graph.tensors().size())) {
      if (one.graph.tensor(id).shape.has_upper_bounds()) one.dynamic_tensors.push_back(id);
    }
  }
}

std::string place_of(const PreparedGraph& in, StepId step) {
  std::string place = "graph " + quoted(in.graph.name());
  if (!in.path.empty()) place += " (" + in.path.substr(0, in.path.size() - 1) + ")";
  place += ": step " + std::to_string(step.value());
  const std::optional<NodeId> node = node_of(in.plan.program.steps[step]);
  if (!node) return place + " (copy)";
  return place + ": node " + std::to_string(node->value()) + " " + quoted(in.graph.node(*node).name) + " (" +
         full_name(in.graph.op(*node)) + ")";
}

}  // namespace lowtide::runtime_internal
