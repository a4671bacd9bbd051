// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/conflict_graph.h"

#include <algorithm>
#include <tuple>

namespace lowtide::allocate_internal {

ConflictGraph::ConflictGraph(std::size_t buffers, const std::vector<PackingPair>& pairs)
    : neighbours_(buffers, [&](const auto& visit) {
        for (const PackingPair& pair : pairs) {
          visit(pair.first, pair.second);
          visit(pair.second, pair.first);
        }
      }) {}

std::optional<ConflictGraph> conflict_graph(const CompressedProblem& problem, Effort& effort) {
  std::vector<PackingPair> pairs = problem.pairs;
  effort.spend(static_cast<std::int64_t>(pairs.size()));
  std::vector<PackingId> by_begin = problem.participants();
  std::sort(by_begin.begin(), by_begin.end(), [&](PackingId a, PackingId b) {
    return std::tuple(problem.buffers[a].lifespan.begin, a) < std::tuple(problem.buffers[b].lifespan.begin, b);
  });
  std::vector<PackingId> active;  // buffers whose lifespans may still overlap the next one
  for (PackingId buffer : by_begin) {
    const Moment begin = problem.buffers[buffer].lifespan.begin;
    std::erase_if(active, [&](PackingId other) { return problem.buffers[other].lifespan.end <= begin; });
    for (PackingId other : active) {
      if (are_live_together(problem, buffer, other)) pairs.push_back({buffer, other});
    }
    effort.spend(static_cast<std::int64_t>(active.size()) + 1);
    if (effort.exhausted()) return std::nullopt;
    active.push_back(buffer);
  }
  return ConflictGraph(problem.buffers.size(), pairs);
}

std::int64_t count_overlapping_pairs(const CompressedProblem& problem) {
  std::vector<Moment> begins;
  std::vector<Moment> ends;
  for (PackingId buffer : problem.participants()) {
    if (problem.buffers[buffer].lifespan.empty()) continue;
    begins.push_back(problem.buffers[buffer].lifespan.begin);
    ends.push_back(problem.buffers[buffer].lifespan.end);
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  // Each pair is counted at the later of its two begins, when the other buffer has begun and has not ended.
  auto pairs = static_cast<std::int64_t>(problem.pairs.size());
  std::size_t ended = 0;
  for (std::size_t begun = 0; begun < begins.size(); ++begun) {
    while (ended < ends.size() && ends[ended] <= begins[begun]) ++ended;
    pairs += static_cast<std::int64_t>(begun - ended);
  }
  return pairs;
}

}  // namespace lowtide::allocate_internal
