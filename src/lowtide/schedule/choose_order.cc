// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/choose_order.h"

#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/try.h"
#include "lowtide/share/load.h"

namespace lowtide {
namespace {

// Looks first at the nodes where the load of the order is highest.
LoadBound bound_by(const ScheduleInput& input, const AliasOptions& aliases, const Schedule& order) {
  return live_set_bound(input.graph, input.least_kernels, order.order,
                        load_profile(order.aliases, input.kernels, order.order, aliases), bound_options(aliases));
}

}  // namespace

BoundOptions bound_options(const AliasOptions& aliases) {
  return {.alignment = aliases.bound_alignment(), .inputs_live_throughout = aliases.inputs_live_throughout};
}

Result<ChosenOrder> choose_order(const ScheduleInput& input, const ScheduleOptions& options) {
  ScheduleOptions given{.order = "as_given", .aliases = options.aliases};
  LOWTIDE_TRY(OrderChoice as_given, try_heuristics(input, given));
  const LoadBound bound = bound_by(input, options.aliases, as_given.best);
  ScheduleOptions bounded = options;
  bounded.bound = bound.bytes;
  LOWTIDE_TRY(OrderChoice choice, try_heuristics(input, bounded, std::move(as_given.best)));
  return ChosenOrder{std::move(choice), bound};
}

ChosenOrder search_for_order(const ScheduleInput& input, const ScheduleOptions& options, ChosenOrder known) {
  ScheduleOptions bounded = options;
  bounded.bound = known.bound.bytes;
  known.choice = search_orders(input, bounded, std::move(known.choice));
  if (const std::string_view name = known.choice.bound_name; !name.empty())
    known.bound = {.bytes = known.choice.bound, .name = name, .is_complete = true};
  return known;
}

ChosenOrder tighten_bound(const ScheduleInput& input, const AliasOptions& aliases, ChosenOrder known) {
  const Schedule& best = known.choice.best;
  if (!known.bound.is_complete && best.load > known.bound.bytes && best.strategy != "as_given") {
    const LoadBound other = bound_by(input, aliases, best);
    if (other.bytes > known.bound.bytes) known.bound = other;
  }
  LOWTIDE_CHECK(known.bound.bytes <= best.load, "a lower bound is never above what an order achieves");
  return known;
}

}  // namespace lowtide
