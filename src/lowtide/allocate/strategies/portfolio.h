// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "lowtide/allocate/strategies/strategy.h"

namespace lowtide::allocate_internal {

// Runs the strategies of the table in its order, phase after phase (phases.h), until the stopping rule holds, the
// effort is spent, or no strategy has anything left to try. If nothing can fit the capacity, there is one phase only.
void run_portfolio(StrategyContext& context, std::span<const StrategyRow> rows);

}  // namespace lowtide::allocate_internal
