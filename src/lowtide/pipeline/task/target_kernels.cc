// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/task/target_kernels.h"

#include <algorithm>
#include <utility>

#include "lowtide/analysis/view_table.h"
#include "lowtide/base/check.h"
#include "lowtide/pipeline/offered_kernels.h"
#include "lowtide/pipeline/task/worker.h"

namespace lowtide::pipeline_internal {

ChosenKernels fastest_kernels(const Graph& graph, const Target& target, const AliasOptions& aliases) {
  ChosenKernels kernels;
  kernels.reserve(graph.nodes().size());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    std::vector<Kernel> candidates = target.catalogue->kernels(graph, id);
    LOWTIDE_CHECK(!candidates.empty(), "a catalogue has a kernel for every node");
    kernels.push_back(std::move(candidates[0]));
  }
  return permitted(std::move(kernels), aliases);
}

ChosenKernels kernels_of(const Graph& graph, const Target& target, const AliasOptions& aliases, const Plan& plan) {
  ChosenKernels kernels = fastest_kernels(graph, target, aliases);
  for (const Step& step : plan.program.steps) {
    const std::optional<NodeId> id = node_of(step);
    if (!id) continue;
    const Compute* compute = std::get_if<Compute>(&step.work);
    std::vector<Kernel> candidates = target.catalogue->kernels(graph, *id);
    const auto is_used = [&](const Kernel& kernel) {
      return compute != nullptr ? kernel.name == plan.kernels[compute->kernel].name : kernel.may_alias_views;
    };
    const auto used = std::find_if(candidates.begin(), candidates.end(), is_used);
    if (used != candidates.end()) kernels[*id] = permitted(std::move(*used), aliases);
  }
  return kernels;
}

std::vector<NodeId> views_with_scratch(const Graph& graph, const ChosenKernels& kernels) {
  std::vector<NodeId> nodes;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (kernels[id].scratch > Bytes(0) && may_be_alias(graph, id, kernels[id])) nodes.push_back(id);
  }
  return nodes;
}

Alignments alignments_of(const Target& target) {
  const std::vector<RegionId> regions = writable_regions(target.machine, kWorker);
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

namespace lowtide {

OfferedKernels offered_kernels(const Target& target) {
  return [&target](const Graph& graph, NodeId node) {
    std::vector<KernelFacts> offered;
    for (const Kernel& kernel : target.catalogue->kernels(graph, node)) {
      offered.push_back({kernel.name, kernel.scratch, kernel.in_place, kernel.may_alias_views});
    }
    return offered;
  };
}

}  // namespace lowtide
