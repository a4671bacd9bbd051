// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/plan/subject.h"

#include <algorithm>

#include "lowtide/base/quote.h"

namespace lowtide::verify_internal {

std::string name_of(const Subject& subject, StepId id) {
  const Step& step = subject.step(id);
  const std::optional<NodeId> node = node_of(step);
  return "step " + std::to_string(id.value()) + " (" +
         (node ? name_of(subject, *node) : "copy of " + quoted(subject.tensor_of(step.reads[0]).name)) + ")";
}

std::string name_of(const Subject& subject, NodeId node) {
  return "node " + std::to_string(node.value()) + " " + quoted(subject.graph.node(node).name) + ", " +
         quoted(subject.graph.op(node).type);
}

std::string name_of(const Subject& subject, TensorId tensor) {
  return quoted(subject.graph.tensor(tensor).name) + " (tensor " + std::to_string(tensor.value()) + ")";
}

std::string name_of(const Subject& subject, BufferId buffer) {
  return "buffer " + std::to_string(buffer.value()) + " (" +
         std::string(to_string(subject.plan.layout.buffers[buffer].kind)) + ")";
}

std::string name_of(const Subject& subject, RegionId region) {
  return "region " + std::to_string(region.value()) + " " + quoted(subject.plan.machine.regions[region.index()].name);
}

std::string name_of(const Interval<std::int64_t>& bytes) {
  return "bytes [" + std::to_string(bytes.begin) + ", " + std::to_string(bytes.end) + ")";
}

std::vector<RegionId> written_regions(const Plan& plan) {
  std::vector<RegionId> regions;
  for (std::size_t at = 0; at < plan.machine.regions.size(); ++at) {
    const RegionId id(static_cast<std::uint32_t>(at));
    const bool is_written = std::any_of(
        plan.program.streams.begin(), plan.program.streams.end(),
        [&](const Stream& stream) { return stream.worker && can_address(plan.machine.workers[*stream.worker], id); });
    if (is_written && !plan.machine.regions[at].is_read_only) regions.push_back(id);
  }
  return regions;
}

}  // namespace lowtide::verify_internal
