// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/place/other_sharing.h"

#include "lowtide/share/load.h"

namespace lowtide::pipeline_internal {

std::vector<NodeId> partial_aliases(const Graph& graph, const Schedule& schedule) {
  std::vector<NodeId> nodes;
  for (NodeId id : schedule.order) {
    const bool is_alias = schedule.aliases.step_kinds[id] != StepKind::compute;
    if (is_alias && is_partial_view(graph.op(id).traits.view)) nodes.push_back(id);
  }
  return nodes;
}

std::vector<AliasOptions> other_ways(const Graph& graph, const Schedule& schedule, const AliasOptions& options) {
  if (partial_aliases(graph, schedule).empty()) return {};
  std::vector<AliasOptions> ways(options.parts ? 2 : 1, options);
  ways.front().parts = false;
  ways.back().parts = options.parts;
  for (NodeId id : schedule.order) {
    if (is_partial_view(graph.op(id).traits.view)) ways.back().computing.push_back(id);
  }
  return ways;
}

std::optional<AliasOptions> with_finest_alignment(AliasOptions options) {
  if (options.bound_alignment() >= options.alignment) return std::nullopt;
  options.alignment = options.bound_alignment();
  options.parts = false;
  return options;
}

Schedule share_again(const Graph& graph, const ChosenKernels& kernels, Schedule schedule, const AliasOptions& options) {
  schedule.aliases = alias_classes(graph, kernels, schedule.order, options);
  schedule.load = largest(load_profile(schedule.aliases, kernels, schedule.order, options));
  return schedule;
}

}  // namespace lowtide::pipeline_internal
