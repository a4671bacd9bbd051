// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/sequence/confirm_bound.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace lowtide::pipeline_internal {
namespace {

// Kernels in the verifier's own terms, because it knows no target.
OrderFacts order_facts(const Graph& graph, const ChosenKernels& kernels, const AliasOptions& aliases) {
  OrderFacts facts{.alignment = aliases.bound_alignment(),
                   .inputs_live_throughout = aliases.inputs_live_throughout,
                   .copies = Flags<NodeId>(kernels.size())};
  facts.scratch.reserve(kernels.size());
  facts.in_place.reserve(kernels.size());
  for (NodeId id : all_ids<NodeId>(kernels.size())) {
    facts.scratch.push_back(kernels[id].scratch);
    std::vector<std::pair<TensorId, TensorId>> pairs;
    for (const auto& [input, output] : kernels[id].in_place) {
      pairs.emplace_back(*graph.node(id).inputs[static_cast<std::size_t>(input)],
                         *graph.node(id).outputs[static_cast<std::size_t>(output)]);
    }
    facts.in_place.push_back(std::move(pairs));
    if (!kernels[id].may_alias_views) facts.copies.set(id);
  }
  return facts;
}

}  // namespace

OrderBoundCheck confirm_bound(const Task& task, const ChosenKernels& least, const LoadBound& bound,
                              const std::vector<PlannedBodies>& bodies) {
  OrderBoundCheck check = check_order_bound(task.graph, order_facts(task.graph, least, task.aliases), bound.bytes,
                                            bound.node, task.options.bound_check_effort);
  for (const PlannedBodies& inside : bodies) check.verdict = std::max(check.verdict, inside.verdict);
  return check;
}

}  // namespace lowtide::pipeline_internal
