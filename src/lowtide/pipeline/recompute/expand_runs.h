// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/sequence/kernel_choice.h"
#include "lowtide/plan/plan.h"
#include "lowtide/plan/transfers.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide::pipeline_internal {

// Runs in their order, and the transfers of what they write, as in SwapAnswer.
struct RunSequence {
  std::vector<NodeId> runs;
  std::vector<Transfer> transfers = {};
  std::set<TensorId> stays = {};  // no transfer moves these
};

// A node that stands for a copy over a link, and its transfer.
struct ExpandedMove {
  NodeId node;
  Transfer transfer;
};

// A graph in which every run of a node is a node, and everything that it writes is a tensor. So the stages that plan
// graphs without recomputation plan it as well.
//
//   x -> a -> b -> c,  a -> c      runs a b a c      a -> b -> c,  a' -> c      a' is a copy of a
//
// A copy out is a node that reads what leaves, right before the run before which it is complete. A copy in is a node
// right after the run that issues it. It writes what comes back. A tensor without bytes is between them, for what is
// outside.
//
//   a leaves during b, and comes back    a -> b,  a -> out -> h -> in -> a',  b -> c,  a' -> c
struct ExpandedGraph {
  Graph graph;                             // as given, its order is that of the runs
  IdVector<NodeId, NodeId> node_of;        // the node of the original graph; for a copy, the one whose result it moves
  IdVector<NodeId, std::uint32_t> run_of;  // the position of the run, by node; for a copy, of the run before it
  IdVector<TensorId, TensorId> tensor_of;
  std::vector<ExpandedMove> moves;  // by node, ascending
};

// Expands a sequence of runs. It has each node of the graph that is not StepKind::alias at least once, after what it
// reads. A run reads what the latest runs wrote. A view runs right after the first run of what it reads, or before its
// reader if any of this has left. Later it runs again if a reader or the caller needs it and what it reads has run
// again, or has come back. The caller gets the tensors of the last runs. A transfer moves those results of its run that
// are in the arena and are read after it. Errors: those of GraphBuilder::build. O((nodes + edges) of the result, times
// log nodes).
[[nodiscard]] Result<ExpandedGraph> expand_runs(const Graph& graph, const AliasClasses& aliases,
                                                const AliasOptions& options, const RunSequence& sequence);

// Every run of a node has the kernel and the bodies of that node. A copy has a kernel of the same name that needs
// nothing.
struct ExpandedKernels {
  ChosenKernels kernels;
  std::vector<PlannedBodies> bodies;
};
[[nodiscard]] ExpandedKernels expand_kernels(const ExpandedGraph& expanded, const KernelChoice& choice);

// Turns a plan of the expanded graph into one of the original graph. Its steps, values and offsets stay. The runs of a
// node become steps of this node, and the tensors that they write become values of one tensor. O(plan).
[[nodiscard]] Plan contract_plan(const Graph& graph, const ExpandedGraph& expanded, Plan plan);

}  // namespace lowtide::pipeline_internal
