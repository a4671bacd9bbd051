// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/share/alias_classes.h"
#include "lowtide/target/target.h"

namespace lowtide::pipeline_internal {

// The first kernel that the catalogue offers for each node, without what the options forbid (permitted).
[[nodiscard]] ChosenKernels choose_kernels(const Graph& graph, const Target& target, const AliasOptions& aliases = {});

// Nodes with scratch that need none in a plan in which they are aliases (views).
[[nodiscard]] std::vector<NodeId> views_with_scratch(const Graph& graph, const ChosenKernels& kernels);

// Alignments of the regions that kWorker can address, which hold all placed buffers.
struct Alignments {
  Bytes first;
  Bytes least;  // the finest
  Bytes most;   // the coarsest
};
[[nodiscard]] Alignments alignments_of(const Target& target);

}  // namespace lowtide::pipeline_internal
