// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/budget/rematerialize.h"
#include "lowtide/plan/transfers.h"
#include "tests/budget/step_problems.h"
#include "tests/testing/step_problems.h"

namespace lowtide {

// Values that begin outside have copies in place of runs, so they have no parts and no rules.
inline void free_fetched(BudgetProblem& problem) {
  const auto make_run = [&](NodeId id) { problem.nodes[id].fetched_over.reset(); };
  for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
    if (problem.nodes[id].part_of) make_run(*problem.nodes[id].part_of);
  }
  for (const BeforeEdge& edge : problem.before) {
    make_run(edge.reader);
    make_run(edge.writer);
  }
  for (const std::vector<NodeId>& group : problem.groups) {
    for (NodeId id : group) make_run(id);
  }
}

// A problem with up to `most_runs` runs and all that a budget problem can state. Values come over two links. The budget
// holds about what one run needs, or more.
inline BudgetProblem random_swap_steps(StepProblems& problems, std::uint32_t most, std::size_t most_runs) {
  while (true) {
    BudgetProblem problem = problems.next(most);
    for (BudgetNode& node : problem.nodes) node.runs_once = node.runs_once && !node.fetched_over;
    const std::size_t runs = runs_by_number(problem).size();
    if (runs < 2 || runs > most_runs) continue;
    free_fetched(problem);
    problem.links.push_back({.name = "peer", .bytes_per_second = 2'000'000'000, .latency_nanoseconds = 0});
    std::int64_t all = 0;
    std::int64_t states = 0;
    for (BudgetNode& node : problem.nodes) {
      all += node.size.count();
      states += node.is_state ? node.size.count() : 0;
      if (node.fetched_over && problems.random().chance(50)) node.fetched_over = 1;
    }
    problem.budget = Bytes(problems.random().between(states + (all - states) / 3, all));
    return problem;
  }
}

// A sequence to begin from, or nothing if none is known that has the runs of all groups.
inline std::vector<NodeId> first_runs_of(const BudgetProblem& problem) {
  return rematerialize(problem, runs_by_number(problem), {.effort = 0}).runs;
}

}  // namespace lowtide
