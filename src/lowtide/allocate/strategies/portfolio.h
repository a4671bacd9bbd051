// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "lowtide/allocate/strategies/strategy.h"

namespace lowtide::allocate_internal {

// Runs the strategies of the table in its order, phase after phase (phases.h), until the stopping rule holds or the
// effort is spent. Also ends if the limit of a phase is far above the effort, which means that all strategies give up
// early. If it is proven that nothing fits the capacity, there is only one phase.
void run_portfolio(StrategyContext& context, std::span<const StrategyRow> rows);

}  // namespace lowtide::allocate_internal
