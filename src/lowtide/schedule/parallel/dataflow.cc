// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/dataflow.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/schedule/parallel/predecessors.h"
#include "lowtide/share/load.h"

namespace lowtide {
namespace {

using Index = PartialOrder::Index;

IdVector<NodeId, Index> positions_of(const std::vector<NodeId>& order) {
  IdVector<NodeId, Index> position(order.size());
  for (std::size_t at = 0; at < order.size(); ++at) position[order[at]] = static_cast<Index>(at);
  return position;
}

std::vector<std::vector<Index>> edges_of(const Graph& graph, const std::vector<NodeId>& order) {
  const IdVector<NodeId, Index> position = positions_of(order);
  std::vector<std::vector<Index>> before(order.size());
  for (std::size_t at = 0; at < order.size(); ++at) {
    std::vector<Index>& own = before[at];
    for (TensorId read : graph.reads(order[at])) {
      if (graph.tensor(read).producer) own.push_back(position[*graph.tensor(read).producer]);
    }
    for (NodeId control : graph.node(order[at]).control_inputs) own.push_back(position[control]);
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
  }
  return before;
}

Error too_wide(std::string what) {
  return {ErrorCode::over_limit, std::move(what) + "; plan for streams or waves instead", ""};
}

// Nodes that overwrite bytes of nodes that the graph does not put before them.
std::vector<NodeId> writers_too_early(const Graph& graph, const Dataflow& flow, const Schedule& schedule) {
  const IdVector<NodeId, Index> position = positions_of(flow.order);
  const IdVector<NodeId, std::vector<NodeId>> before = schedule_internal::predecessors(graph, schedule);
  std::vector<NodeId> found;
  for (NodeId id : all_ids<NodeId>(before.size())) {
    const bool is_ordered = std::all_of(before[id].begin(), before[id].end(), [&](NodeId other) {
      return flow.known.is_before(position[other], position[id]);
    });
    if (!is_ordered) found.push_back(id);
  }
  return found;
}

}  // namespace

Result<Dataflow> dataflow(const Graph& graph, const std::vector<NodeId>& order) {
  PartialOrder edges = chains_of(edges_of(graph, order));
  if (edges.chains > limits::kMaxStreams) {
    return too_wide("dataflow needs " + std::to_string(edges.chains) + " chains, above the limit of " +
                    std::to_string(limits::kMaxStreams) + " streams (kMaxStreams)");
  }
  Result<HappensBefore> known = HappensBefore::make(edges);
  if (!known) {
    return too_wide("dataflow of " + std::to_string(order.size()) + " nodes on " + std::to_string(edges.chains) +
                    " chains needs clocks beyond the limit of " + std::to_string(HappensBefore::kMostBytes) + " bytes");
  }
  return Dataflow{order, std::move(edges), *std::move(known)};
}

Schedule share_in_dataflow(const Graph& graph, const Dataflow& flow, const Schedule& sequential,
                           const ChosenKernels& kernels, const AliasOptions& options) {
  Schedule schedule{.order = flow.order, .strategy = sequential.strategy, .load = {}, .aliases = sequential.aliases};
  ChosenKernels allowed = kernels;
  std::vector<NodeId> early = writers_too_early(graph, flow, schedule);
  for (int round = 0; !early.empty(); ++round) {
    LOWTIDE_CHECK(round < kMostRounds, "without results in place, the edges of the graph order all accesses");
    for (NodeId id : early) allowed[id].in_place.clear();
    AliasOptions narrowed = options;
    narrowed.in_place = options.in_place && round + 1 < kMostRounds;
    schedule.aliases = alias_classes(graph, allowed, flow.order, narrowed);
    early = writers_too_early(graph, flow, schedule);
  }
  schedule.load = largest(load_profile(schedule.aliases, kernels, flow.order, options));
  return schedule;
}

std::int64_t longest_path(const Dataflow& flow, const AliasClasses& aliases,
                          const IdVector<NodeId, std::int64_t>& costs) {
  std::vector<std::int64_t> ends(flow.order.size(), 0);
  std::int64_t longest = 0;
  for (std::size_t at = 0; at < ends.size(); ++at) {
    const NodeId id = flow.order[at];
    for (Index before : flow.edges.before[at]) ends[at] = std::max(ends[at], ends[before]);
    if (aliases.step_kinds[id] != StepKind::alias) ends[at] += costs[id];
    longest = std::max(longest, ends[at]);
  }
  return longest;
}

}  // namespace lowtide
