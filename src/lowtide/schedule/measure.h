// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/schedule/schedule.h"

namespace lowtide::schedule_internal {

// Above this number of nodes, orders are measured in one way only, and runners-up are not kept.
inline constexpr std::size_t kMostSharedNodes = 20'000;

// An order with its aliases and its load. O((nodes + edges) log nodes).
[[nodiscard]] Schedule measured(const ScheduleInput& input, const ScheduleOptions& options, std::string strategy,
                                std::vector<NodeId> order);

// Tries fewer kinds of aliases while the load is above options.bound, and keeps what lowers it. Does nothing without a
// bound, and in graphs of more than kMostSharedNodes nodes.
void share_less(const ScheduleInput& input, const ScheduleOptions& options, Schedule& schedule);

// Makes `next` the best if its load is lower. The other one becomes a runner-up.
void take(const ScheduleInput& input, Schedule next, OrderChoice& choice);

}  // namespace lowtide::schedule_internal
