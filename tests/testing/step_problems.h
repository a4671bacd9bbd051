// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/plan/budget_problem.h"

namespace lowtide {

// Random problems with everything that plan/budget_problem.h has: parts, views, states, updates, writes over inputs,
// scratch, seeds, fetched copies, edges `before` and groups.
class StepProblems {
 public:
  explicit StepProblems(std::uint64_t seed) : random_(seed) {}

  // A problem with 2 to `most` entries that check_budget_problem accepts. The budget is 0.
  BudgetProblem next(std::uint32_t most) {
    while (true) {
      BudgetProblem problem = draw(static_cast<std::uint32_t>(random_.between(2, most)));
      if (check_budget_problem(problem).ok()) return problem;
    }
  }

  [[nodiscard]] Random& random() { return random_; }

 private:
  BudgetProblem draw(std::uint32_t count) {
    BudgetProblem problem{.nodes = {}, .budget = Bytes(0)};
    problem.links = {{.name = "disk", .bytes_per_second = 1'000'000'000, .latency_nanoseconds = 1}};
    const bool is_training = random_.chance(50);
    for (std::uint32_t at = 0; at < count; ++at) add_entry(problem, count, is_training);
    const std::vector<NodeId> runs = runs_of(problem);
    while (runs.size() > 1 && random_.chance(20)) {
      problem.before.push_back({.reader = one_of(runs), .writer = one_of(runs)});
      std::sort(problem.before.begin(), problem.before.end());
    }
    if (!runs.empty() && random_.chance(15)) {
      std::vector<NodeId>& group = problem.groups.emplace_back();
      const std::int64_t length = random_.between(1, 4);
      for (std::int64_t place = 0; place < length; ++place) group.push_back(one_of(runs));
      if (random_.chance(60)) {
        std::sort(group.begin(), group.end());
        group.erase(std::unique(group.begin(), group.end()), group.end());
      }
    }
    return problem;
  }

  static std::vector<NodeId> runs_of(const BudgetProblem& problem) {
    std::vector<NodeId> runs;
    for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
      if (problem.nodes[id].is_run()) runs.push_back(id);
    }
    return runs;
  }

  NodeId one_of(const std::vector<NodeId>& nodes) {
    return nodes[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(nodes.size()) - 1))];
  }

  void add_entry(BudgetProblem& problem, std::uint32_t count, bool is_training) {
    const auto at = static_cast<std::uint32_t>(problem.nodes.size());
    const std::vector<NodeId> runs = runs_of(problem);
    BudgetNode node{.reads = {}, .size = Bytes(random_.between(0, 6))};
    node.is_output = random_.chance(12);
    if (random_.chance(at == 0 ? 35 : 8)) {
      node.is_state = true;
    } else if (at > 0 && random_.chance(8)) {
      node.view_of = NodeId(static_cast<std::uint32_t>(random_.between(0, at - 1)));
      node.size = Bytes(0);
    } else if (!runs.empty() && random_.chance(18)) {
      node.part_of = one_of(runs);
      if (random_.chance(40)) overwrite(problem, node, problem.nodes[*node.part_of]);
    } else {
      fill_run(problem, node, count, is_training);
    }
    problem.nodes.push_back(std::move(node));
  }

  // Half of the problems have the shape of training, where reruns help most: the later half of the entries reads the
  // earlier one backwards.
  void fill_run(const BudgetProblem& problem, BudgetNode& node, std::uint32_t count, bool is_training) {
    const auto at = static_cast<std::uint32_t>(problem.nodes.size());
    node.cost = random_.between(0, 5);
    for (std::uint32_t input = 0; input < at; ++input) {
      const bool is_next = input + 1 == at || input + at + 1 == count;
      if (random_.chance(is_training ? (is_next ? 95 : 5) : 35)) node.reads.push_back(NodeId(input));
    }
    if (random_.chance(20)) node.extra = Bytes(random_.between(-node.size.count(), 4));
    if (!node.reads.empty() && random_.chance(30)) {
      node.extra = Bytes(random_.between(0, 2));
      overwrite(problem, node, node);
    } else if (random_.chance(20)) {
      node.seed = Bytes(random_.between(1, 3));
    } else {
      node.runs_once = random_.chance(15);
    }
    if (node.reads.empty() && random_.chance(30)) node.fetched_over = 0;
  }

  // Writes an output over something that its run reads.
  void overwrite(const BudgetProblem& problem, BudgetNode& output, BudgetNode& run) {
    if (run.reads.empty()) return;
    output.overwrites = one_of({run.reads.begin(), run.reads.end()});
    const EntryBytes facts(problem);
    if (facts.state[*output.overwrites]) {
      output.size = run.seed = Bytes(0);
    } else {
      run.extra -= std::min(output.size, problem.nodes[facts.bytes[*output.overwrites]].size);
    }
  }

  Random random_;
};

}  // namespace lowtide
