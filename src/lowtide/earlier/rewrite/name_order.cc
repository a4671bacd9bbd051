// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/name_order.h"

#include <algorithm>
#include <optional>

#include "lowtide/base/check.h"
#include "lowtide/base/try.h"
#include "lowtide/graph/builder.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/target/target.h"

namespace lowtide::rewrite_internal {
namespace {

// By node: the nodes that must come before it.
using Before = IdVector<NodeId, std::vector<NodeId>>;

void add_writes_over(const NetGraph& net, Before& before) {
  const Graph& graph = net.graph;
  for (const std::vector<TensorId>& tensors : net.facts.colocated) {
    for (std::size_t at = 1; at < tensors.size(); ++at) {
      const std::optional<NodeId> writer = graph.tensor(tensors[at]).producer;
      if (!writer) continue;
      for (NodeId reader : graph.readers(tensors[at - 1])) {
        if (reader != *writer) before[*writer].push_back(reader);
      }
      const std::optional<NodeId> previous = graph.tensor(tensors[at - 1]).producer;
      if (previous) before[*writer].push_back(*previous);
    }
  }
}

void add_effects(const NetGraph& net, Before& before) {
  std::optional<NodeId> last;
  for (NodeId id : all_ids<NodeId>(net.graph.nodes().size())) {
    if (operator_traits("caffe2", net.graph.op(id).type).is_pure) continue;
    if (last) before[id].push_back(*last);
    last = id;
  }
}

// The graph with more control inputs, and with the same ids.
Result<Graph> with_control_inputs(const Graph& graph, const Before& before) {
  GraphBuilder builder(graph.name());
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Role role = graph.tensor(id).role;
    builder.add_copy(graph, id, role == Role::output ? Role::temporary : role);
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(graph, id);
    std::vector<NodeId>& inputs = spec.control_inputs;
    inputs.insert(inputs.end(), before[id].begin(), before[id].end());
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    builder.add_node(std::move(spec));
  }
  for (const StateUpdate& update : graph.state_updates()) builder.add_state_update(update.state, update.next);
  builder.set_outputs(graph.outputs());
  return std::move(builder).build();
}

Result<std::vector<NodeId>> planned_order(const NetGraph& net, const Before& before, PlanOptions options) {
  LOWTIDE_TRY(Graph graph, with_control_inputs(net.graph, before));
  options.allocate_effort = 0;
  options.skip = {PlanStage::refine, PlanStage::check_bound, PlanStage::verify};
  LOWTIDE_TRY(const PlannedGraph planned, plan_graph(graph, dense_target(), options));
  std::vector<NodeId> order;
  for (const Step& step : planned.plan.program.steps) {
    if (const std::optional<NodeId> node = node_of(step)) order.push_back(*node);
  }
  LOWTIDE_CHECK(order.size() == net.graph.nodes().size(), "a plan on one stream without a budget runs each node once");
  return order;
}

}  // namespace

Result<std::vector<NodeId>> name_order(const NetGraph& net) {
  Before before(net.graph.nodes().size());
  add_writes_over(net, before);
  add_effects(net, before);
  return planned_order(net, before, {.order_effort = 50'000'000});
}

Result<std::vector<NodeId>> longest_path_order(const NetGraph& net) {
  Before before(net.graph.nodes().size());
  add_writes_over(net, before);
  return planned_order(net, before, {.order = "longest_path", .order_effort = 0});
}

}  // namespace lowtide::rewrite_internal
