// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/plan/transfers.h"

namespace lowtide {

struct SwapNode {
  std::int64_t size = 1;
  std::int64_t cost = 1;
  std::vector<std::uint32_t> reads = {};
  bool is_output = false;
  std::int64_t extra = 0;
  bool runs_once = false;
};

inline BudgetProblem swap_problem(std::int64_t budget, const std::vector<SwapNode>& nodes) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(budget)};
  for (const SwapNode& node : nodes) {
    BudgetNode made{.reads = {}, .size = Bytes(node.size), .cost = node.cost, .is_output = node.is_output};
    made.extra = Bytes(node.extra);
    made.runs_once = node.runs_once;
    for (std::uint32_t input : node.reads) made.reads.push_back(NodeId(input));
    problem.nodes.push_back(std::move(made));
  }
  return problem;
}

// A link that moves this many bytes in a nanosecond, so that times can be added by hand.
inline TransferLink link_of(std::int64_t bytes_per_nanosecond, std::int64_t latency = 0, std::int64_t per_cost = 1) {
  return {.bytes_per_second = bytes_per_nanosecond * 1'000'000'000,
          .latency_nanoseconds = latency,
          .nanoseconds_per_cost = per_cost};
}

inline std::vector<NodeId> order_of(const BudgetProblem& problem) {
  std::vector<NodeId> order;
  for (NodeId node : all_ids<NodeId>(problem.nodes.size())) order.push_back(node);
  return order;
}

// A chain forward and a chain back, which reads the first one in reverse, as in training. Forward nodes have size 4 and
// cost 3, backward nodes size 1 and cost 4.
inline BudgetProblem swap_training(std::uint32_t depth, std::int64_t budget) {
  std::vector<SwapNode> nodes;
  for (std::uint32_t at = 0; at < depth; ++at) {
    nodes.push_back({.size = 4, .cost = 3, .reads = {}});
    if (at > 0) nodes.back().reads = {at - 1};
  }
  for (std::uint32_t at = 0; at < depth; ++at) {
    nodes.push_back({.size = 1, .cost = 4, .reads = {depth - 1 - at}});
    if (at > 0) nodes.back().reads.push_back(depth + at - 1);
  }
  return swap_problem(budget, nodes);
}

// A problem with up to `most` nodes and at least 2, whose nodes all fit. Half of them have the shape of training.
inline BudgetProblem random_swap_problem(Random& random, std::uint32_t most) {
  const auto count = static_cast<std::uint32_t>(random.between(2, most));
  const bool is_training = random.chance(50);
  std::vector<SwapNode> nodes;
  std::int64_t sum = 0;
  std::int64_t needed = 0;
  std::int64_t outputs = 0;
  for (std::uint32_t at = 0; at < count; ++at) {
    SwapNode node{.size = random.between(0, 6), .cost = random.between(0, 5), .is_output = random.chance(15)};
    node.extra = random.chance(20) ? random.between(-node.size, 3) : 0;
    node.runs_once = random.chance(20);
    std::int64_t working_set = node.size + node.extra;
    for (std::uint32_t input = 0; input < at; ++input) {
      const bool is_next = input + 1 == at || input + at + 1 == count;
      if (!random.chance(is_training ? (is_next ? 95 : 5) : 35)) continue;
      node.reads.push_back(input);
      working_set += nodes[input].size;
    }
    sum += node.size;
    outputs += node.is_output ? node.size : 0;
    needed = std::max(needed, working_set);
    nodes.push_back(std::move(node));
  }
  needed = std::max(needed, outputs);
  return swap_problem(random.between(needed, std::max(needed, sum * 2 / 3)), nodes);
}

inline TransferLink random_link(Random& random) {
  return {.bytes_per_second = random.between(1, 3) * 1'000'000'000,
          .latency_nanoseconds = random.between(0, 1),
          .nanoseconds_per_cost = random.between(1, 3)};
}

}  // namespace lowtide
