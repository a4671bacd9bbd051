// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/schedule/orders/order_problem.h"

namespace lowtide::testing {

using schedule_internal::OrderProblem;

struct RandomOrderProblem {
  int most_nodes = 8;
  int edge_percent = 30;
  // Adds values of any nodes, scratch, results in place, values that are live from the start or to the end, and a base.
  bool extras = true;
};

// One value per node, which the node and its direct successors touch. With extras, there are more values.
inline OrderProblem random_order_problem(Random& random, const RandomOrderProblem& shape) {
  OrderProblem problem;
  const auto count = static_cast<std::uint32_t>(random.between(1, shape.most_nodes));
  problem.nodes.resize(count);
  for (OrderProblem::Node& node : problem.nodes) node.steps.resize(1);
  for (std::uint32_t node = 0; node < count; ++node) {
    problem.values.push_back({.size = random.between(0, 20)});
    problem.nodes[node].steps[0].values.push_back(node);
    for (std::uint32_t before = 0; before < node; ++before) {
      if (!random.chance(shape.edge_percent)) continue;
      problem.nodes[node].before.push_back(before);
      if (!shape.extras || random.chance(90)) problem.nodes[node].steps[0].values.push_back(before);
    }
    if (!shape.extras) continue;
    if (random.chance(20)) problem.nodes[node].steps[0].scratch = random.between(0, 15);
    if (random.chance(50)) problem.nodes[node].steps[0].born.push_back(node);
  }
  if (shape.extras) {
    problem.base = random.between(0, 5);
    for (int more = 0; more < 2; ++more) {
      problem.values.push_back({.size = random.between(0, 20)});
      for (OrderProblem::Node& node : problem.nodes) {
        if (random.chance(30)) node.steps[0].values.push_back(static_cast<std::uint32_t>(problem.values.size() - 1));
      }
    }
    for (OrderProblem::Value& value : problem.values) {
      value.is_there_first = random.chance(10);
      value.is_kept = random.chance(10);
    }
  }
  for (OrderProblem::Node& node : problem.nodes) {
    OrderProblem::Step& step = node.steps[0];
    std::sort(step.values.begin(), step.values.end());
    for (std::uint32_t value : step.values) ++problem.values[value].users;
    if (step.born.empty()) continue;
    for (std::uint32_t value : step.values) {
      if (value != step.born[0] && random.chance(70)) step.dying.push_back(value);
    }
  }
  // Clears the values without users.
  for (OrderProblem::Value& value : problem.values) {
    if (value.users == 0) value = {};
  }
  return problem;
}

// The peak by the definition of the load, computed for each step independently. Requires: nodes have one step each.
inline std::int64_t peak_by_definition(const OrderProblem& problem, const std::vector<std::uint32_t>& order) {
  const auto step_of = [&](std::uint32_t node) { return std::find(order.begin(), order.end(), node) - order.begin(); };
  std::vector<std::ptrdiff_t> first(problem.values.size(), std::numeric_limits<std::ptrdiff_t>::max());
  std::vector<std::ptrdiff_t> last(problem.values.size(), -1);
  for (std::uint32_t node = 0; node < problem.nodes.size(); ++node) {
    for (std::uint32_t value : problem.nodes[node].steps[0].values) {
      first[value] = std::min(first[value], step_of(node));
      last[value] = std::max(last[value], step_of(node));
    }
  }
  std::int64_t peak = problem.base;
  for (std::ptrdiff_t step = 0; step < static_cast<std::ptrdiff_t>(order.size()); ++step) {
    const OrderProblem::Step& node = problem.nodes[order[static_cast<std::size_t>(step)]].steps[0];
    std::int64_t load = problem.base + node.scratch;
    for (std::uint32_t value = 0; value < problem.values.size(); ++value) {
      const bool has_begun = problem.values[value].is_there_first || first[value] <= step;
      const bool has_not_ended = problem.values[value].is_kept || last[value] >= step;
      if (problem.values[value].users > 0 && has_begun && has_not_ended) load += problem.values[value].size;
    }
    std::int64_t dying = 0;
    std::int64_t born = 0;
    for (std::uint32_t value : node.dying) {
      if (!problem.values[value].is_kept && last[value] == step) dying += problem.values[value].size;
    }
    for (std::uint32_t value : node.born) {
      if (!problem.values[value].is_there_first && first[value] == step) born += problem.values[value].size;
    }
    peak = std::max(peak, load - std::min(dying, born));
  }
  return peak;
}

// Calls visit(order) for every topological order. The recursion is as deep as the number of nodes, which is small.
inline void for_each_order(const OrderProblem& problem,
                           const std::function<void(const std::vector<std::uint32_t>&)>& visit) {
  std::vector<std::uint32_t> order;
  std::vector<char> has_run(problem.nodes.size(), 0);
  const std::function<void()> go_on = [&] {
    if (order.size() == problem.nodes.size()) return visit(order);
    for (std::uint32_t node = 0; node < problem.nodes.size(); ++node) {
      const std::vector<std::uint32_t>& before = problem.nodes[node].before;
      const bool is_ready = std::all_of(before.begin(), before.end(), [&](std::uint32_t one) { return has_run[one]; });
      if (has_run[node] != 0 || !is_ready) continue;
      has_run[node] = 1;
      order.push_back(node);
      go_on();
      order.pop_back();
      has_run[node] = 0;
    }
  };
  go_on();
}

inline std::int64_t least_peak(const OrderProblem& problem) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for_each_order(problem, [&](const std::vector<std::uint32_t>& order) {
    least = std::min(least, peak_by_definition(problem, order));
  });
  return least;
}

}  // namespace lowtide::testing
