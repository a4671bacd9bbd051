// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/budgets/budget_problem_of.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "lowtide/base/check.h"

namespace lowtide::pipeline_internal {

BudgetProblem budget_problem_of(const Graph& graph, const IdVector<NodeId, std::int64_t>& costs, Bytes budget) {
  BudgetProblem problem{.nodes = {}, .budget = budget};
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Node& node = graph.node(id);
    LOWTIDE_CHECK(node.outputs.size() == 1 && node.outputs[0], "a node of a plain graph has one output");
    const Tensor& output = graph.tensor(*node.outputs[0]);
    std::vector<NodeId> reads;
    for (const std::optional<TensorId>& input : node.inputs) {
      if (input && graph.tensor(*input).producer) reads.push_back(*graph.tensor(*input).producer);
    }
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    problem.nodes.push_back({.reads = CompactVector<NodeId>(reads.data(), reads.data() + reads.size()),
                             .size = output.size,
                             .cost = costs[id],
                             .is_output = output.role == Role::output});
  }
  return problem;
}

}  // namespace lowtide::pipeline_internal
