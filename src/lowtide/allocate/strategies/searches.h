// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>

#include "lowtide/allocate/strategies/strategy.h"

namespace lowtide::allocate_internal {

// The exact search of the problem's own form, asked whether the target can be reached.
[[nodiscard]] std::unique_ptr<Strategy> make_search_target(StrategyContext& context, std::span<const StrategyRow> rows);

// The same question to the search over cliques, where plain lifespans let the other search answer it first. Each of the
// two solves problems on which the other one does not end.
[[nodiscard]] std::unique_ptr<Strategy> make_search_as_sets(StrategyContext& context,
                                                            std::span<const StrategyRow> rows);

// Heights between the target and the best.
[[nodiscard]] std::unique_ptr<Strategy> make_search_between(StrategyContext& context,
                                                            std::span<const StrategyRow> rows);

// The bound itself, after the search has stopped at a height in the same unit of alignment.
[[nodiscard]] std::unique_ptr<Strategy> make_search_within_unit(StrategyContext& context,
                                                                std::span<const StrategyRow> rows);

// A local search from the best. Each turn has a seed of its own.
[[nodiscard]] std::unique_ptr<Strategy> make_ejection(StrategyContext& context, std::span<const StrategyRow> rows);

}  // namespace lowtide::allocate_internal
