// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/analysis/bounds.h"
#include "lowtide/base/result.h"
#include "lowtide/schedule/schedule.h"

namespace lowtide {

// The best order that was found, and a bound for all orders: bound.bytes <= choice.best.load.
struct ChosenOrder {
  OrderChoice choice;
  LoadBound bound;
};

// The options with which bounds count bytes in the same way as orders do with `aliases`.
[[nodiscard]] BoundOptions bound_options(const AliasOptions& aliases);

// Computes a bound, then tries heuristics until one meets it. `options.bound` is ignored.
// Errors: those of try_heuristics. O((nodes + edges) log nodes), plus the effort of live_set_bound.
[[nodiscard]] Result<ChosenOrder> choose_order(const ScheduleInput& input, const ScheduleOptions& options);

// Searches for a better order, and raises the bound if the search proves a higher one (search_orders).
[[nodiscard]] ChosenOrder search_for_order(const ScheduleInput& input, const ScheduleOptions& options,
                                           ChosenOrder known);

// If the effort of the bound ended before all nodes were examined, computes the bound again. This time it first
// examines the nodes at which the load of the best order is highest.
[[nodiscard]] ChosenOrder tighten_bound(const ScheduleInput& input, const AliasOptions& aliases, ChosenOrder known);

}  // namespace lowtide
