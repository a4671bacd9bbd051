// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/kernel_choice.h"
#include "lowtide/plan/plan.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide::pipeline_internal {

// A graph in which every run of a node is a node, and everything that it writes is a tensor. So the stages that plan
// graphs without recomputation plan it as well.
//
//   x -> a -> b -> c,  a -> c      runs a b a c      a -> b -> c,  a' -> c      a' is a copy of a
struct ExpandedGraph {
  Graph graph;                       // as given, its order is that of the runs
  IdVector<NodeId, NodeId> node_of;  // the node of the original graph, by node
  IdVector<TensorId, TensorId> tensor_of;
};

// Expands a sequence of runs. `runs` has each node of the graph that is not StepKind::alias at least once, after what
// it reads. A run reads what the latest runs wrote. A view runs right after the first run of what it reads. Later it
// runs again if a reader or the caller needs it and what it reads has run again. The caller gets the tensors of the
// last runs. Errors: those of GraphBuilder::build. O((nodes + edges) of the result, times log nodes).
[[nodiscard]] Result<ExpandedGraph> expand_runs(const Graph& graph, const AliasClasses& aliases,
                                                const std::vector<NodeId>& runs);

// Every run of a node has the kernel and the bodies of that node.
struct ExpandedKernels {
  ChosenKernels kernels;
  std::vector<PlannedBodies> bodies;
};
[[nodiscard]] ExpandedKernels expand_kernels(const ExpandedGraph& expanded, const KernelChoice& choice);

// Turns a plan of the expanded graph into one of the original graph. Its steps, values and offsets stay. The runs of a
// node become steps of this node, and the tensors that they write become values of one tensor. O(plan).
[[nodiscard]] Plan contract_plan(const Graph& graph, const ExpandedGraph& expanded, Plan plan);

}  // namespace lowtide::pipeline_internal
