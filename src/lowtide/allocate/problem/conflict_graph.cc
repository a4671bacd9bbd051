// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/conflict_graph.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace lowtide::allocate_internal {
namespace {

std::vector<PackingId> participants_by_begin(const CompressedProblem& problem) {
  std::vector<PackingId> members = problem.movable;
  members.insert(members.end(), problem.fixed.begin(), problem.fixed.end());
  std::sort(members.begin(), members.end(), [&](PackingId a, PackingId b) {
    return std::tuple(problem.buffers[a].hull.begin, a) < std::tuple(problem.buffers[b].hull.begin, b);
  });
  return members;
}

}  // namespace

ConflictGraph graph_of(std::size_t buffers, const std::vector<PackingPair>& pairs) {
  ConflictGraph graph;
  graph.first_.assign(buffers + 1, 0);
  for (const PackingPair& pair : pairs) {
    ++graph.first_[pair.first.index() + 1];
    ++graph.first_[pair.second.index() + 1];
  }
  for (std::size_t at = 1; at < graph.first_.size(); ++at) graph.first_[at] += graph.first_[at - 1];
  graph.neighbours_.resize(pairs.size() * 2);
  std::vector<std::size_t> next(graph.first_.begin(), graph.first_.end() - 1);
  for (const PackingPair& pair : pairs) {
    graph.neighbours_[next[pair.first.index()]++] = pair.second;
    graph.neighbours_[next[pair.second.index()]++] = pair.first;
  }
  return graph;
}

std::optional<ConflictGraph> conflict_graph(const CompressedProblem& problem, Effort& effort) {
  std::vector<PackingPair> pairs = problem.pairs;
  effort.spend(static_cast<std::int64_t>(pairs.size()));
  std::vector<PackingId> active;  // hulls that may still meet the next one
  for (PackingId buffer : participants_by_begin(problem)) {
    const Moment begin = problem.buffers[buffer].hull.begin;
    std::erase_if(active, [&](PackingId other) { return problem.buffers[other].hull.end <= begin; });
    for (PackingId other : active) {
      if (share_a_moment(problem, buffer, other)) pairs.push_back({buffer, other});
    }
    effort.spend(static_cast<std::int64_t>(active.size()) + 1);
    if (effort.exhausted()) return std::nullopt;
    active.push_back(buffer);
  }
  return graph_of(problem.buffers.size(), pairs);
}

std::int64_t count_meeting_pairs(const CompressedProblem& problem) {
  std::vector<Moment> begins;
  std::vector<Moment> ends;
  for (const std::vector<PackingId>* list : {&problem.movable, &problem.fixed}) {
    for (PackingId buffer : *list) {
      if (problem.buffers[buffer].hull.empty()) continue;
      begins.push_back(problem.buffers[buffer].hull.begin);
      ends.push_back(problem.buffers[buffer].hull.end);
    }
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  // The i-th to begin meets all that began before it and have not ended: each pair is counted by its later begin.
  auto pairs = static_cast<std::int64_t>(problem.pairs.size());
  std::size_t ended = 0;
  for (std::size_t begun = 0; begun < begins.size(); ++begun) {
    while (ended < ends.size() && ends[ended] <= begins[begun]) ++ended;
    pairs += static_cast<std::int64_t>(begun - ended);
  }
  return pairs;
}

}  // namespace lowtide::allocate_internal
