// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>

#include "lowtide/allocate/strategies/strategy.h"

namespace lowtide::allocate_internal {

// Returns the strategy that tries the greedy orders (orders.h) one after another, each once and with its fit rule. A
// run tries at least one order, and more while its limit permits.
[[nodiscard]] std::unique_ptr<Strategy> make_greedy_orders(StrategyContext& context, std::span<const StrategyRow> rows);

// The first order alone. For a large problem (StrategyContext::is_large), the other strategy begins with the second
// one.
[[nodiscard]] std::unique_ptr<Strategy> make_first_greedy_order(StrategyContext& context,
                                                                std::span<const StrategyRow> rows);

}  // namespace lowtide::allocate_internal
