// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/choose_order.h"

#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/share/load.h"

namespace lowtide::detail {
namespace {

LoadBound stronger(const LoadBound& a, const LoadBound& b) { return b.bytes > a.bytes ? b : a; }

}  // namespace

BoundOptions bound_options(const AliasOptions& aliases) {
  return {.alignment = aliases.bound_alignment(), .inputs_live_throughout = aliases.inputs_live_throughout};
}

Result<ChosenOrder> choose_order(const Graph& graph, const ChosenKernels& planned, const ChosenKernels& least,
                                 const OrderWish& wish, Passes& passes) {
  // Looks first where the load of this order is highest.
  const auto bound_by = [&](const Schedule& order) {
    return passes.run("bound", [&] {
      return load_bound(graph, least, order.order, load_profile(order.aliases, planned, order.order, wish.aliases),
                        bound_options(wish.aliases));
    });
  };
  // A bound before the search, so that it can stop at an order that is proven best.
  const Result<Schedule> given =
      passes.run("schedule", [&] { return schedule(graph, planned, {.order = "as_given", .aliases = wish.aliases}); });
  if (!given) return given.error();
  LoadBound bound = bound_by(*given);

  ScheduleOptions options{.order = wish.order,
                          .aliases = wish.aliases,
                          .bound = bound.bytes,
                          .least = &least,
                          .start = &*given};
  if (wish.effort > 0) options.effort = wish.effort;
  Result<Schedule> best = passes.run("schedule", [&] { return schedule(graph, planned, options); });
  if (!best) return best.error();
  if (best->is_bound_searched) bound = {.bytes = best->bound, .name = "search", .is_complete = true};
  if (!bound.is_complete && best->load > bound.bytes && best->strategy != "as_given") {
    bound = stronger(bound, bound_by(*best));
  }
  LOWTIDE_CHECK(bound.bytes <= best->load, "a lower bound is never above what an order achieves");
  return ChosenOrder{*std::move(best), bound};
}

}  // namespace lowtide::detail
