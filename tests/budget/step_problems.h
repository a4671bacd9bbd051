// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/plan/budget_problem.h"

namespace lowtide {

// The runs of a problem in the order of their numbers.
inline std::vector<NodeId> runs_by_number(const BudgetProblem& problem) {
  std::vector<NodeId> order;
  for (NodeId node : all_ids<NodeId>(problem.nodes.size())) {
    if (problem.nodes[node].is_run()) order.push_back(node);
  }
  return order;
}

// One entry of a random problem. It may break a rule together with others.
inline BudgetNode random_entry(Random& random, const BudgetProblem& problem) {
  const auto at = static_cast<std::uint32_t>(problem.nodes.size());
  BudgetNode node{.size = Bytes(random.between(0, 6))};
  node.is_output = random.chance(10);
  const auto earlier = [&] { return NodeId(static_cast<std::uint32_t>(random.below(at))); };
  if (at == 0 ? random.chance(60) : random.chance(15)) {
    node.is_state = true;
    node.is_output = false;
    return node;
  }
  if (at > 0 && random.chance(12)) {
    node.view_of = earlier();
    node.size = Bytes(0);
    return node;
  }
  const NodeId maker = at > 0 ? earlier() : NodeId(0);
  if (at > 0 && random.chance(20) && problem.nodes[maker].is_run()) {
    node.part_of = maker;
    return node;
  }
  node.cost = random.between(0, 5);
  for (std::uint32_t input = 0; input < at; ++input) {
    if (random.chance(input + 1 == at ? 60 : 30)) node.reads.push_back(NodeId(input));
  }
  if (random.chance(25)) node.extra = Bytes(random.between(0, 3));
  node.runs_once = random.chance(12);
  if (!node.runs_once && random.chance(20)) node.seed = Bytes(random.between(1, 3));
  if (node.reads.empty() || !random.chance(35)) return node;
  node.overwrites = node.reads[random.below(node.reads.size())];
  if (state_of(problem, *node.overwrites)) {
    node.size = node.seed = Bytes(0);
  } else {
    node.extra = Bytes(-std::min(node.size, problem.nodes[bytes_of_entry(problem, *node.overwrites)].size).count());
  }
  return node;
}

// A problem with all kinds of entries, rules and groups, and up to `most` runs. It is accepted by
// check_budget_problem().
inline BudgetProblem random_step_problem(Random& random, std::uint32_t most) {
  while (true) {
    BudgetProblem problem{.nodes = {}, .budget = Bytes(0)};
    const auto count = static_cast<std::uint32_t>(random.between(most / 2, most + 2));
    for (std::uint32_t at = 0; at < count; ++at) problem.nodes.push_back(random_entry(random, problem));
    const std::vector<NodeId> runs = runs_by_number(problem);
    if (runs.size() < 2 || runs.size() > most) continue;
    const auto some_run = [&] { return runs[random.below(runs.size())]; };
    for (int tries = 0; tries < 2 && random.chance(40); ++tries) problem.before.push_back({some_run(), some_run()});
    std::sort(problem.before.begin(), problem.before.end());
    if (random.chance(15)) {
      problem.groups.emplace_back();
      for (std::int64_t left = random.between(2, 3); left > 0; --left) problem.groups.back().push_back(some_run());
    }
    Bytes sum;
    for (const BudgetNode& node : problem.nodes) sum += node.size;
    problem.budget = Bytes(random.between(sum.count() / 2, sum.count()));
    if (check_budget_problem(problem)) return problem;
  }
}

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
    if (node.overwrites) current[bytes_of_entry(problem, *node.overwrites)] = kGone;
    places[runs[at]].push_back(at);
  }
  std::vector<std::int64_t> loads(runs.size() + 1, 0);
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
    const bool is_once = node.runs_once || (node.overwrites && state_of(problem, id));
    if (places[id].empty() || (is_once && places[id].size() > 1)) return std::nullopt;
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
