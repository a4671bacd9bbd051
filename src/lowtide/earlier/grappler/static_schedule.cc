// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/static_schedule.h"

#include <algorithm>
#include <limits>

#include "lowtide/earlier/grappler/placement.h"

namespace lowtide::grappler_internal {
namespace {

std::vector<std::int64_t> durations(const TypedGraph& graph, const Cluster& cluster) {
  const Placement placement(cluster);
  std::vector<std::int64_t> all;
  for (NodeIndex at = 0; at < graph.nodes.size(); ++at) {
    const ClusterDevice& device = cluster.devices[placement.device_of(graph.nodes[at].device)];
    all.push_back(std::max<std::int64_t>(nanoseconds_on(work_of(graph.costed(at)), device), 1));
  }
  return all;
}

// For each node, its readers, once for each of their inputs.
std::vector<std::vector<NodeIndex>> readers_of(const TypedGraph& graph) {
  std::vector<std::vector<NodeIndex>> readers(graph.nodes.size());
  for (NodeIndex at = 0; at < graph.nodes.size(); ++at) {
    for (NodeIndex input : graph.links.inputs[at]) readers[input].push_back(at);
  }
  return readers;
}

}  // namespace

std::vector<std::optional<std::int64_t>> earliest_ends(const TypedGraph& graph, const Cluster& cluster) {
  const std::vector<std::int64_t> duration = durations(graph, cluster);
  const std::vector<std::vector<NodeIndex>> readers = readers_of(graph);
  std::vector<std::optional<std::int64_t>> ends(graph.nodes.size());
  std::vector<std::size_t> waits(graph.nodes.size());
  std::vector<NodeIndex> ready;
  for (NodeIndex at = 0; at < graph.nodes.size(); ++at) {
    waits[at] = is_merge(graph.nodes[at]) ? 1 : graph.links.inputs[at].size();
    if (!graph.links.inputs[at].empty()) continue;
    ready.push_back(at);
    ends[at] = 0;
  }
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const NodeIndex at = ready[next];
    ends[at] = std::min(ends[at].value() + duration[at], kMostTime);
    for (NodeIndex reader : readers[at]) {
      if (waits[reader] == 0) continue;
      if (--waits[reader] == 0) ready.push_back(reader);
      ends[reader] = std::max(ends[reader].value_or(0), *ends[at]);
    }
  }
  return ends;
}

std::vector<std::int64_t> required_ends(const TypedGraph& graph, const Cluster& cluster,
                                        const std::vector<std::int64_t>& ends) {
  const std::vector<std::int64_t> duration = durations(graph, cluster);
  std::vector<std::size_t> waits(graph.nodes.size(), 0);
  for (const std::vector<NodeIndex>& inputs : graph.links.inputs) {
    for (NodeIndex input : inputs) ++waits[input];
  }
  std::vector<std::int64_t> required(graph.nodes.size(), std::numeric_limits<std::int64_t>::max());
  std::vector<NodeIndex> ready;
  for (NodeIndex at = 0; at < graph.nodes.size(); ++at) {
    if (waits[at] > 0) continue;
    required[at] = ends[at];
    ready.push_back(at);
  }
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const NodeIndex at = ready[next];
    for (NodeIndex input : graph.links.inputs[at]) {
      required[input] = std::min(required[input], required[at] - duration[at]);
      if (waits[input] > 0 && --waits[input] == 0) ready.push_back(input);
    }
  }
  return required;
}

}  // namespace lowtide::grappler_internal
