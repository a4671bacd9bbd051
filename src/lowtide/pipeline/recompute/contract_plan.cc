// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <vector>

#include "lowtide/pipeline/recompute/expand_runs.h"

namespace lowtide::pipeline_internal {
namespace {

// The captures that a step reads after its inputs ascend by id, and the ids of the expanded graph have another order.
std::vector<ValueId> reads_in_order(const Graph& graph, NodeId node, const Program& program,
                                    const std::vector<ValueId>& reads) {
  std::vector<ValueId> ordered = reads;
  if (graph.node(node).bodies.empty()) return ordered;
  const std::vector<TensorId> operands = graph.operands(node);
  for (std::size_t at = 0; at < operands.size(); ++at) {
    if (program.values[reads[at]].tensor == operands[at]) continue;
    const auto found = std::find_if(reads.begin(), reads.end(),
                                    [&](ValueId value) { return program.values[value].tensor == operands[at]; });
    if (found != reads.end()) ordered[at] = *found;
  }
  return ordered;
}

}  // namespace

ExpandedKernels expand_kernels(const ExpandedGraph& expanded, const KernelChoice& choice) {
  ExpandedKernels result;
  auto move = expanded.moves.begin();
  for (NodeId id : all_ids<NodeId>(expanded.node_of.size())) {
    const NodeId original = expanded.node_of[id];
    if (move != expanded.moves.end() && move->node == id) {
      ++move;
      result.kernels.push_back({.name = choice.kernels.planned[original].name, .scratch = {}, .in_place = {}});
      continue;
    }
    result.kernels.push_back(choice.kernels.planned[original]);
    if (const PlannedBodies* inside = bodies_of(choice.bodies, original)) {
      result.bodies.push_back(*inside);
      result.bodies.back().node = id;
    }
  }
  return result;
}

Plan contract_plan(const Graph& graph, const ExpandedGraph& expanded, Plan plan) {
  for (Value& value : plan.program.values) value.tensor = expanded.tensor_of[value.tensor];
  for (Step& step : plan.program.steps) {
    if (Compute* compute = std::get_if<Compute>(&step.work)) {
      compute->node = expanded.node_of[compute->node];
    } else if (Alias* alias = std::get_if<Alias>(&step.work)) {
      alias->node = expanded.node_of[alias->node];
    }
    const std::optional<NodeId> node = node_of(step);
    if (node) step.reads = reads_in_order(graph, *node, plan.program, step.reads);
  }
  return plan;
}

}  // namespace lowtide::pipeline_internal
