// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/shown_step.h"

namespace lowtide {

ShownStep shown_node(const Labels& labels, NodeId node) { return {labels.nodes[node].name, labels.nodes[node].op}; }

ShownStep shown_step(const Plan& plan, const Labels& labels, std::optional<StepId> id) {
  if (!id) return {};
  const Step& step = plan.program.steps[*id];
  if (const std::optional<NodeId> node = node_of(step)) return shown_node(labels, *node);
  ShownStep shown{.name = labels.tensors[plan.program.values[step.reads[0]].tensor].name, .op = "copy"};
  const std::optional<RegionId> to = region_of(plan, step.writes[0]);
  if (to && to != region_of(plan, step.reads[0])) shown.to = plan.machine.regions[to->index()].name;
  return shown;
}

std::optional<RegionId> region_of(const Plan& plan, ValueId value) {
  const Buffer& buffer = plan.layout.buffers[plan.layout.values[value].buffer];
  return buffer.placement ? std::optional(buffer.placement->region) : buffer.home;
}

}  // namespace lowtide
