// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
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

// Writes an output over something that its run reads.
inline void overwrite_input(Random& random, const BudgetProblem& problem, BudgetNode& output, BudgetNode& run) {
  if (run.reads.empty()) return;
  output.overwrites = run.reads[random.below(run.reads.size())];
  const EntryBytes facts(problem);
  if (facts.state[*output.overwrites]) {
    output.size = run.seed = Bytes(0);
  } else {
    run.extra -= std::min(output.size, problem.nodes[facts.bytes[*output.overwrites]].size);
  }
}

// One entry of a random problem. It may break a rule together with others.
inline BudgetNode random_entry(Random& random, BudgetProblem& problem) {
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
    if (random.chance(40)) overwrite_input(random, problem, node, problem.nodes[maker]);
    return node;
  }
  node.cost = random.between(0, 5);
  for (std::uint32_t input = 0; input < at; ++input) {
    if (random.chance(input + 1 == at ? 60 : 30)) node.reads.push_back(NodeId(input));
  }
  if (random.chance(25)) node.extra = Bytes(random.between(0, 3));
  node.runs_once = random.chance(12);
  if (!node.runs_once && random.chance(20)) node.seed = Bytes(random.between(1, 3));
  if (!random.chance(35)) return node;
  node.extra = Bytes(0);
  overwrite_input(random, problem, node, node);
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

}  // namespace lowtide
