// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/schedule.h"

#include <algorithm>
#include <optional>

#include "lowtide/analysis/load.h"
#include "lowtide/base/quote.h"
#include "lowtide/schedule/orders.h"

namespace lowtide {
namespace {

struct Strategy {
  std::string name;
  std::vector<NodeId> (*order)(const Graph&);
};

const std::vector<Strategy>& strategies() {
  static const std::vector<Strategy> all = {{"as_given", detail::as_given},
                                            {"depth_first", detail::depth_first},
                                            {"greedy_by_freed_bytes", detail::greedy_by_freed_bytes}};
  return all;
}

Schedule measure(const Graph& graph, const ChosenKernels& kernels, const ScheduleOptions& options,
                 const Strategy& strategy) {
  Schedule schedule;
  schedule.order = strategy.order(graph);
  LOWTIDE_CHECK(schedule.order.size() == graph.nodes().size(), "an order holds every node once");
  schedule.strategy = strategy.name;
  schedule.aliases = alias_classes(graph, kernels, schedule.order, options.aliases);
  schedule.load = largest(load_profile(schedule.aliases, kernels, schedule.order, options.aliases));
  return schedule;
}

}  // namespace

const std::vector<std::string>& schedule_strategies() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Strategy& strategy : strategies()) all.push_back(strategy.name);
    return all;
  }();
  return names;
}

Result<Schedule> schedule(const Graph& graph, const ChosenKernels& kernels, const ScheduleOptions& options) {
  std::optional<Schedule> best;
  std::vector<std::pair<std::string, Bytes>> tried;
  if (options.start != nullptr && (options.order == "auto" || options.order == options.start->strategy)) {
    best = *options.start;
    tried = best->tried;
  }
  for (const Strategy& strategy : strategies()) {
    if (best && best->load <= options.bound) break;
    if (options.order != "auto" && options.order != strategy.name) continue;
    if (options.start != nullptr && options.start->strategy == strategy.name) continue;
    Schedule next = measure(graph, kernels, options, strategy);
    tried.emplace_back(next.strategy, next.load);
    if (!best || next.load < best->load) best = std::move(next);
  }
  if (!best) {
    std::string known = "auto";
    for (const std::string& name : schedule_strategies()) known += ", " + name;
    return Error{ErrorCode::invalid, "there is no order " + quoted(options.order) + "; there are " + known, ""};
  }
  best->tried = std::move(tried);
  return *std::move(best);
}

}  // namespace lowtide
