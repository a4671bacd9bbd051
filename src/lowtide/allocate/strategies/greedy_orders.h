// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>

#include "lowtide/allocate/strategies/strategy.h"

namespace lowtide::allocate_internal {

// The greedy orders (orders.h), each with a fit rule, one after another. Each is tried once. A run tries at least one,
// and as many as its limit allows.
[[nodiscard]] std::unique_ptr<Strategy> make_greedy_orders(StrategyContext& context, std::span<const StrategyRow> rows);

}  // namespace lowtide::allocate_internal
