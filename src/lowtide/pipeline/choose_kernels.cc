// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/choose_kernels.h"

#include <algorithm>
#include <utility>

#include "lowtide/analysis/view_table.h"
#include "lowtide/base/check.h"
#include "lowtide/pipeline/assemble.h"

namespace lowtide::pipeline_internal {

ChosenKernels choose_kernels(const Graph& graph, const Target& target, const AliasOptions& aliases) {
  ChosenKernels kernels;
  kernels.reserve(graph.nodes().size());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    std::vector<Kernel> candidates = target.catalogue->kernels(graph, id);
    LOWTIDE_CHECK(!candidates.empty(), "a catalogue has a kernel for every node");
    kernels.push_back(std::move(candidates[0]));
  }
  return permitted(std::move(kernels), aliases);
}

std::vector<NodeId> views_with_scratch(const Graph& graph, const ChosenKernels& kernels) {
  const ViewTable views(graph, kernels);
  std::vector<NodeId> nodes;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (kernels[id].scratch > Bytes(0) && !views.of(id).empty()) nodes.push_back(id);
  }
  return nodes;
}

Alignments alignments_of(const Target& target) {
  const std::vector<RegionId> regions = addressable_regions(target.machine, kWorker);
  const Bytes first = target.machine.regions[regions.front().index()].alignment;
  Alignments all{first, first, first};
  for (RegionId id : regions) {
    const Bytes alignment = target.machine.regions[id.index()].alignment;
    all.least = std::min(all.least, alignment);
    all.most = std::max(all.most, alignment);
  }
  return all;
}

}  // namespace lowtide::pipeline_internal
