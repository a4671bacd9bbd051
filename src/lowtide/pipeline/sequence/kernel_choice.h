// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/pipeline/place/assemble.h"
#include "lowtide/pipeline/sequence/bodies.h"
#include "lowtide/pipeline/task/task.h"

namespace lowtide::pipeline_internal {

// One way to run a node.
struct KernelOption {
  Kernel kernel;                     // without what the options forbid; its scratch has no arenas of bodies
  bool has_lightest_bodies = false;  // the bodies have the plans BodyPlans::lightest
  // Roughly what the node adds to the load while it runs: scratch, bodies, and outputs that it writes neither over an
  // input nor into a state. Half of an output counts if the order decides whether the input is still needed, and half
  // of everything if the node is a view, whose kernel may not run.
  Bytes need;
};

// The ways to run each node of a graph.
struct KernelOptions {
  // The fastest comes first. Each further one is slower and needs less. There is at least one per node.
  IdVector<NodeId, std::vector<KernelOption>> of_node;
  // What every plan needs for each node (least_of), without bodies. nullopt if that is what the fastest kernels need.
  std::optional<ChosenKernels> least;

  [[nodiscard]] bool has_lighter() const;
};

// Which of its options each node has: an index into KernelOptions::of_node.
using OptionIndices = IdVector<NodeId, std::size_t>;

// What nodes need as planned, and what they need in every plan of a scope, which bounds count. The two differ in
// scratch. A node with bodies needs the arenas that were found, and at least the proven bound. A view needs the scratch
// of a kernel that copies, and at least 0. Except in the scope chosen_kernels, a node may also have other kernels.
struct NodeKernels {
  ChosenKernels planned;
  bool has_other_kernels = false;  // a plan with other kernels may need less
  // nullopt: the same as the previous member.
  std::optional<ChosenKernels> least_chosen_kernels = std::nullopt;
  std::optional<ChosenKernels> least_run_once = std::nullopt;
  std::optional<ChosenKernels> least_all_plans = std::nullopt;

  [[nodiscard]] const ChosenKernels& least(BoundScope scope) const;
};

// A kernel for each node, and a plan for each body.
struct KernelChoice {
  OptionIndices indices;
  NodeKernels kernels;
  std::vector<PlannedBodies> bodies;
};

// How far a choice is from the fastest one.
struct ExchangeCost {
  std::int64_t nodes = 0;  // that do not have their fastest kernel
  // How much longer they take (target/cost.h); nullopt if the target does not give the costs.
  std::optional<std::int64_t> picoseconds = 0;
};

// Sorts the kernels that the catalogue offers for each node. O(nodes + edges) and the catalogue's time.
[[nodiscard]] KernelOptions kernel_options(const Task& task, const BodyPlans& bodies);

[[nodiscard]] OptionIndices fastest_of(const KernelOptions& options);
[[nodiscard]] OptionIndices lightest_of(const KernelOptions& options);

// Gives each node its option, and adds the arenas of bodies to its scratch. O(nodes + edges).
[[nodiscard]] KernelChoice choose_kernels(const Task& task, const KernelOptions& options, const BodyPlans& bodies,
                                          OptionIndices indices);

// Counts the nodes whose kernels run (StepKind::compute). O(nodes).
[[nodiscard]] ExchangeCost exchange_cost(const Graph& graph, const KernelOptions& options, const OptionIndices& indices,
                                         const AliasClasses& aliases);

}  // namespace lowtide::pipeline_internal
