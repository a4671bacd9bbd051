// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/plan/budget_problem.h"

namespace lowtide::pipeline_internal {

// A graph as a budget problem. A node of the problem is a node of the graph that has bytes of its own. A view has none.
// What reads the view reads the nodes that made its bytes, its *roots*.
struct RunModel {
  BudgetProblem problem;
  IdVector<NodeId, NodeId> node_of;  // the node of the graph, by node of the problem
  std::vector<NodeId> order;         // of the nodes of the problem
  std::int64_t unit = 1;             // picoseconds per unit of cost; costs are rounded down
};

// Makes the unit of the costs a whole number of nanoseconds. Costs are rounded down.
void count_in_nanoseconds(RunModel& model);

}  // namespace lowtide::pipeline_internal
