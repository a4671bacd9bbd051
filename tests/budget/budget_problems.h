// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/plan/budget_problem.h"

namespace lowtide {

struct TestNode {
  std::int64_t size = 1;
  std::int64_t cost = 1;
  std::vector<std::uint32_t> reads = {};
  bool is_output = false;
};

inline BudgetProblem budget_problem(std::int64_t budget, const std::vector<TestNode>& nodes) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(budget)};
  for (const TestNode& node : nodes) {
    BudgetNode made{.reads = {}, .size = Bytes(node.size), .cost = node.cost, .is_output = node.is_output};
    for (std::uint32_t input : node.reads) made.reads.push_back(NodeId(input));
    problem.nodes.push_back(std::move(made));
  }
  return problem;
}

inline std::vector<NodeId> order_by_number(const BudgetProblem& problem) {
  std::vector<NodeId> order;
  for (NodeId node : all_ids<NodeId>(problem.nodes.size())) order.push_back(node);
  return order;
}

// A chain of `depth` nodes, and a second chain that reads it backwards, as in training.
//
//   f0 -> f1 -> f2          each of size 2 and cost 3; backward nodes have size 1 and cost 4
//    |     |     |
//    b0 <- b1 <- b2
inline BudgetProblem training_chain(std::uint32_t depth, std::int64_t budget) {
  std::vector<TestNode> nodes;
  for (std::uint32_t at = 0; at < depth; ++at) {
    nodes.push_back({.size = 2, .cost = 3, .reads = {}});
    if (at > 0) nodes.back().reads = {at - 1};
  }
  for (std::uint32_t at = 0; at < depth; ++at) {
    nodes.push_back({.size = 1, .cost = 4, .reads = {depth - 1 - at}});
    if (at > 0) nodes.back().reads.push_back(depth + at - 1);
  }
  return budget_problem(budget, nodes);
}

// A problem with up to `most` nodes, at least half of them. Half of the problems have the shape of training, where
// reruns help most: the later half of the nodes reads the earlier one backwards.
inline BudgetProblem random_problem(Random& random, std::uint32_t most) {
  const auto count = static_cast<std::uint32_t>(random.between(most / 2, most));
  const bool is_training = random.chance(50);
  std::vector<TestNode> nodes;
  std::int64_t sum = 0;
  for (std::uint32_t at = 0; at < count; ++at) {
    TestNode node{.size = random.between(0, 6), .cost = random.between(0, 5), .is_output = random.chance(15)};
    for (std::uint32_t input = 0; input < at; ++input) {
      const bool is_next = input + 1 == at || input + at + 1 == count;
      if (random.chance(is_training ? (is_next ? 95 : 5) : 35)) node.reads.push_back(input);
    }
    sum += node.size;
    nodes.push_back(std::move(node));
  }
  return budget_problem(random.between(sum / 3, sum), nodes);
}

// The same, and some runs take more or less than their outputs, and some nodes must not run again.
inline BudgetProblem random_problem_with_extras(Random& random, std::uint32_t most) {
  BudgetProblem problem = random_problem(random, most);
  for (BudgetNode& node : problem.nodes) {
    if (random.chance(40)) node.extra = Bytes(random.between(-node.size.count(), 4));
    node.runs_once = random.chance(20);
  }
  return problem;
}

// The least cost of all sequences that keep the budget, reruns included; nullopt if there are none. It improves the
// cost of every pair of a set of nodes that ran and a set of outputs that exist, until nothing changes. 4^n pairs.
inline std::optional<std::int64_t> least_cost_by_sweeps(const BudgetProblem& problem) {
  const auto count = static_cast<std::uint32_t>(problem.nodes.size());
  const std::uint32_t sets = 1U << count;
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> least(std::size_t{sets} * sets, kNever);
  const auto at = [&](std::uint32_t ran, std::uint32_t there) -> std::int64_t& {
    return least[std::size_t{ran} * sets + there];
  };
  at(0, 0) = 0;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::uint32_t ran = 0; ran < sets; ++ran) {
      for (std::uint32_t there = sets; there-- > 0;) {
        if (at(ran, there) == kNever) continue;
        for (std::uint32_t node = 0; node < count; ++node) {
          const std::uint32_t bit = 1U << node;
          const BudgetNode& row = problem.nodes[NodeId(node)];
          std::int64_t cost = at(ran, there);
          std::uint32_t to_ran = ran;
          std::uint32_t to_there = there & ~bit;  // dropped
          if ((there & bit) == 0) {
            if (row.runs_once && (ran & bit) != 0) continue;
            Bytes live = row.size + row.extra;
            for (std::uint32_t other = 0; other < count; ++other) {
              if ((there & (1U << other)) != 0) live += problem.nodes[NodeId(other)].size;
            }
            const bool has_inputs = std::all_of(row.reads.begin(), row.reads.end(),
                                                [&](NodeId input) { return (there & (1U << input.value())) != 0; });
            if (!has_inputs || live > problem.budget) continue;
            cost += row.cost;
            to_ran = ran | bit;
            to_there = there | bit;
          }
          if (cost >= at(to_ran, to_there)) continue;
          at(to_ran, to_there) = cost;
          has_changed = true;
        }
      }
    }
  }
  Bytes at_end;
  for (const BudgetNode& node : problem.nodes) at_end += node.is_output ? node.size : Bytes(0);
  std::optional<std::int64_t> best;
  for (std::uint32_t there = 0; there < sets && at_end <= problem.budget; ++there) {
    bool has_outputs = true;
    for (std::uint32_t node = 0; node < count; ++node) {
      has_outputs = has_outputs && (!problem.nodes[NodeId(node)].is_output || (there & (1U << node)) != 0);
    }
    const std::int64_t cost = at(sets - 1, there);
    if (has_outputs && cost != kNever && (!best || cost < *best)) best = cost;
  }
  return best;
}

}  // namespace lowtide
