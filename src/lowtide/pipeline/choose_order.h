// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lowtide/analysis/bounds.h"
#include "lowtide/base/result.h"
#include "lowtide/pipeline/pass.h"
#include "lowtide/schedule/schedule.h"

namespace lowtide::detail {

struct OrderWish {
  std::string order;  // a name of schedule_strategies(), or auto
  AliasOptions aliases;
  std::int64_t effort = 0;  // of the search; 0: its default
};

// An order, and a bound over all orders: bound.bytes <= schedule.load.
struct ChosenOrder {
  Schedule schedule;
  LoadBound bound;
};

[[nodiscard]] BoundOptions bound_options(const AliasOptions& aliases);

// `planned`: what the nodes take; `least`: what they take in every plan, of which the bound counts.
[[nodiscard]] Result<ChosenOrder> choose_order(const Graph& graph, const ChosenKernels& planned,
                                               const ChosenKernels& least, const OrderWish& wish, Passes& passes);

}  // namespace lowtide::detail
