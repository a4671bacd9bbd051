// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/other_order.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/schedule/orders/order_problem.h"
#include "lowtide/schedule/orders/order_search.h"
#include "lowtide/share/load.h"

namespace lowtide {
namespace {

using schedule_internal::FoundOrder;
using schedule_internal::order_problem;
using schedule_internal::OrderProblem;
using schedule_internal::search_order;

using Index = OrderProblem::Index;

// A random topological order: each next node is drawn from those that are ready.
std::vector<Index> drawn_order(const OrderProblem& problem, Random& random) {
  const auto count = static_cast<Index>(problem.nodes.size());
  std::vector<std::vector<Index>> after(count);
  std::vector<std::uint32_t> waiting(count, 0);
  std::vector<Index> ready;
  for (Index node = 0; node < count; ++node) {
    waiting[node] = static_cast<std::uint32_t>(problem.nodes[node].before.size());
    for (Index before : problem.nodes[node].before) after[before].push_back(node);
    if (waiting[node] == 0) ready.push_back(node);
  }
  std::vector<Index> order;
  order.reserve(count);
  while (!ready.empty()) {
    std::swap(ready[random.below(ready.size())], ready.back());
    const Index node = ready.back();
    ready.pop_back();
    order.push_back(node);
    for (Index next : after[node]) {
      if (--waiting[next] == 0) ready.push_back(next);
    }
  }
  return order;
}

// The same problem, in which node i is the old node order[i].
OrderProblem renumbered(const OrderProblem& problem, const std::vector<Index>& order) {
  std::vector<Index> place(order.size());
  for (Index at = 0; at < order.size(); ++at) place[order[at]] = at;
  OrderProblem out{.nodes = {}, .values = problem.values, .base = problem.base};
  out.nodes.reserve(order.size());
  for (Index old : order) {
    OrderProblem::Node& node = out.nodes.emplace_back(problem.nodes[old]);
    for (Index& before : node.before) before = place[before];
    std::sort(node.before.begin(), node.before.end());
  }
  return out;
}

}  // namespace

std::optional<Schedule> other_order(const Graph& graph, const ChosenKernels& kernels, const AliasOptions& aliases,
                                    const OtherOrderOptions& options) {
  Random random(options.seed);
  const OrderProblem problem = order_problem(graph, kernels, aliases);
  const std::vector<Index> drawn = drawn_order(problem, random);
  const FoundOrder found =
      search_order(renumbered(problem, drawn), {.bound = options.most.count(), .work = options.work});
  if (found.peak > options.most.count()) return std::nullopt;
  Schedule schedule;
  for (Index at : found.order) schedule.order.push_back(NodeId(drawn[at]));
  schedule.strategy = "search";
  schedule.aliases = alias_classes(graph, kernels, schedule.order, aliases);
  schedule.load = largest(load_profile(schedule.aliases, kernels, schedule.order, aliases));
  if (schedule.load > options.most) return std::nullopt;
  return schedule;
}

}  // namespace lowtide
