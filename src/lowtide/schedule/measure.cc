// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/measure.h"

#include <array>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/share/load.h"

namespace lowtide::schedule_internal {

Schedule measured(const ScheduleInput& input, const ScheduleOptions& options, std::string strategy,
                  std::vector<NodeId> order) {
  LOWTIDE_CHECK(order.size() == input.graph.nodes().size(), "an order holds every node once");
  Schedule schedule{.order = std::move(order), .strategy = std::move(strategy), .load = {}, .aliases = {}};
  schedule.aliases = alias_classes(input.graph, input.kernels, schedule.order, options.aliases);
  schedule.load = largest(load_profile(schedule.aliases, input.kernels, schedule.order, options.aliases));
  share_less(input, options, schedule);
  return schedule;
}

void share_less(const ScheduleInput& input, const ScheduleOptions& options, Schedule& schedule) {
  if (input.graph.nodes().size() > kMostSharedNodes || options.bound == Bytes(0)) return;
  std::array<AliasOptions, 3> ways = {options.aliases, options.aliases, options.aliases};
  ways[0].parts = false;
  ways[1].in_place = false;
  ways[2].views = false;
  for (const AliasOptions& way : ways) {
    if (schedule.load <= options.bound) break;
    AliasClasses aliases = alias_classes(input.graph, input.kernels, schedule.order, way);
    const Bytes load = largest(load_profile(aliases, input.kernels, schedule.order, way));
    if (load >= schedule.load) continue;
    schedule.aliases = std::move(aliases);
    schedule.load = load;
  }
}

void take(const ScheduleInput& input, Schedule next, OrderChoice& choice) {
  choice.tried.emplace_back(next.strategy, next.load);
  if (next.load < choice.best.load) std::swap(next, choice.best);
  if (input.graph.nodes().size() <= kMostSharedNodes) choice.runners_up.push_back(std::move(next));
}

}  // namespace lowtide::schedule_internal
