// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "tests/budget/step_problems.h"

namespace lowtide {

// Whether all edges and groups are kept. `places`: the positions of the runs of each entry.
inline bool keeps_orders(const BudgetProblem& problem, const std::vector<NodeId>& runs,
                         const IdVector<NodeId, std::vector<std::size_t>>& places) {
  std::vector<BeforeEdge> edges = implied_before(problem);
  edges.insert(edges.end(), problem.before.begin(), problem.before.end());
  for (const BeforeEdge& edge : edges) {
    if (places[edge.reader].back() > places[edge.writer].front()) return false;
  }
  for (const std::vector<NodeId>& group : problem.groups) {
    std::vector<NodeId> done;
    for (NodeId run : runs) {
      if (std::find(group.begin(), group.end(), run) != group.end()) done.push_back(run);
    }
    if (done != group) return false;
  }
  return true;
}

// Replays a sequence forwards, by the words of plan/budget_problem.h. Returns the most live bytes, or nullopt if the
// sequence breaks a rule.
inline std::optional<std::int64_t> peak_of_steps(const BudgetProblem& problem, const std::vector<NodeId>& runs) {
  struct Content {
    NodeId entry;
    std::size_t made;
    std::size_t last;
  };
  constexpr std::size_t kGone = static_cast<std::size_t>(-1);
  IdVector<NodeId, std::size_t> current(problem.nodes.size(), kGone);
  IdVector<NodeId, std::vector<std::size_t>> places(problem.nodes.size());
  std::vector<Content> contents;
  for (std::size_t at = 0; at < runs.size(); ++at) {
    const BudgetNode& node = problem.nodes[runs[at]];
    for (NodeId read : node.reads) {
      const NodeId bytes = bytes_of_entry(problem, read);
      if (problem.nodes[bytes].is_state) continue;
      if (current[bytes] == kGone) return std::nullopt;
      contents[current[bytes]].last = at;
    }
    for (NodeId entry : all_ids<NodeId>(problem.nodes.size())) {
      if (entry != runs[at] && problem.nodes[entry].part_of != runs[at]) continue;
      current[entry] = contents.size();
      contents.push_back({entry, at, at});
    }
    for (NodeId entry : all_ids<NodeId>(problem.nodes.size())) {
      const std::optional<NodeId> overwritten = problem.nodes[entry].overwrites;
      if (!overwritten || problem.nodes[entry].part_of.value_or(entry) != runs[at]) continue;
      current[bytes_of_entry(problem, *overwritten)] = kGone;
    }
    places[runs[at]].push_back(at);
  }
  std::vector<std::int64_t> loads(runs.size() + 1, 0);
  const EntryBytes facts(problem);
  for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
    const BudgetNode& node = problem.nodes[id];
    if (node.is_state) {
      for (std::int64_t& load : loads) load += node.size.count();
    }
    const NodeId bytes = bytes_of_entry(problem, id);
    if (node.is_output && !problem.nodes[bytes].is_state) {
      if (current[bytes] == kGone) return std::nullopt;
      contents[current[bytes]].last = runs.size();
    }
    if (!node.is_run()) continue;
    if (places[id].empty() || (facts.happens_once.test(id) && places[id].size() > 1)) return std::nullopt;
    for (std::size_t at : places[id]) loads[at] += node.extra.count();
    if (places[id].size() == 1) continue;
    for (std::size_t at = places[id].front(); at <= places[id].back(); ++at) loads[at] += node.seed.count();
  }
  if (!keeps_orders(problem, runs, places)) return std::nullopt;
  for (const Content& content : contents) {
    for (std::size_t at = content.made; at <= content.last; ++at) {
      loads[at] += problem.nodes[content.entry].size.count();
    }
  }
  return *std::max_element(loads.begin(), loads.end());
}

inline std::int64_t cost_of_runs(const BudgetProblem& problem, const std::vector<NodeId>& runs) {
  return std::accumulate(runs.begin(), runs.end(), std::int64_t{0},
                         [&](std::int64_t sum, NodeId run) { return sum + problem.nodes[run].cost; });
}

// The least cost of all sequences of up to `most` runs that keep the budget.
inline std::optional<std::int64_t> least_cost_of_steps(const BudgetProblem& problem, std::size_t most) {
  const std::vector<NodeId> runs = runs_by_number(problem);
  std::optional<std::int64_t> least;
  std::vector<NodeId> sequence;
  std::vector<std::size_t> next = {0};
  while (!next.empty()) {
    if (next.back() == runs.size() || sequence.size() == most) {
      next.pop_back();
      if (!sequence.empty()) sequence.pop_back();
      continue;
    }
    sequence.push_back(runs[next.back()++]);
    next.push_back(0);
    if (sequence.size() < runs.size()) continue;
    const std::int64_t cost = cost_of_runs(problem, sequence);
    if (least && cost >= *least) continue;
    const std::optional<std::int64_t> peak = peak_of_steps(problem, sequence);
    if (peak && *peak <= problem.budget.count()) least = cost;
  }
  return least;
}

}  // namespace lowtide
