// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/aitemplate_times.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lowtide/base/quote.h"

namespace lowtide {
namespace {

double time_of(const Graph& graph, NodeId id, const std::map<std::string, double>& profile) {
  const auto found = profile.find(graph.node(id).name);
  return graph.node(id).name.empty() || found == profile.end() ? 0 : found->second;
}

void add_statistics(const std::map<std::string, double>& profile, ProfiledTimes& times) {
  std::vector<double> sorted;
  for (const auto& [name, time] : profile) sorted.push_back(time);
  if (sorted.empty()) return;
  std::sort(sorted.begin(), sorted.end());
  const auto percentile = [&](double part) {
    return sorted[static_cast<std::size_t>(static_cast<double>(sorted.size()) * part)];
  };
  times.percentile_70_ms = percentile(0.7);
  times.percentile_90_ms = percentile(0.9);
  times.percentile_95_ms = percentile(0.95);
  times.longest_ms = sorted.back();
  for (double time : sorted) times.total_ms += time;
}

}  // namespace

Result<ProfiledTimes> profile_times(const Graph& graph, const std::vector<NodeId>& order,
                                    const std::map<std::string, double>& profile) {
  for (const auto& [name, time] : profile) {
    if (std::isfinite(time) && time >= 0) continue;
    return Error{ErrorCode::invalid,
                 "the profile gives " + quoted(name) + " " + std::to_string(time) +
                     " ms; give a finite number that is not negative",
                 ""};
  }
  ProfiledTimes times{.one_stream = IdVector<NodeId, NodeTime>(graph.nodes().size()),
                      .all_streams = IdVector<NodeId, NodeTime>(graph.nodes().size())};
  double now = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const NodeId id = order[at];
    const double time = time_of(graph, id, profile);
    times.one_stream[id] = {now, now + time, static_cast<std::uint32_t>(at + 1)};
    now += time;
    NodeTime& free = times.all_streams[id];
    for (TensorId tensor : graph.reads(id)) {
      const std::optional<NodeId> producer = graph.tensor(tensor).producer;
      if (!producer) continue;
      free.start_ms = std::max(free.start_ms, times.all_streams[*producer].end_ms);
      free.order = std::max(free.order, times.all_streams[*producer].order + 1);
    }
    free.end_ms = free.start_ms + time;
  }
  add_statistics(profile, times);
  return times;
}

}  // namespace lowtide
