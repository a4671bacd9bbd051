// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/share/alias_classes.h"
#include "lowtide/target/target.h"

namespace lowtide::pipeline_internal {

// The fastest kernel of each node, without what the options forbid (permitted).
[[nodiscard]] ChosenKernels fastest_kernels(const Graph& graph, const Target& target, const AliasOptions& aliases = {});

// The kernels of a plan for this target, without what the options forbid. A node that the plan runs as an alias has its
// fastest kernel that may alias views.
[[nodiscard]] ChosenKernels kernels_of(const Graph& graph, const Target& target, const AliasOptions& aliases,
                                       const Plan& plan);

// The nodes with scratch that need none in some plan, because they are aliases there (may_be_alias). A view of an input
// into an output is one of them: the plan copies the input to the place of the output, which is then the result.
[[nodiscard]] std::vector<NodeId> views_with_scratch(const Graph& graph, const ChosenKernels& kernels);

// Alignments of the regions that kWorker can address, which hold all placed buffers.
struct Alignments {
  Bytes first;
  Bytes least;  // the finest
  Bytes most;   // the coarsest
};
[[nodiscard]] Alignments alignments_of(const Target& target);

}  // namespace lowtide::pipeline_internal
