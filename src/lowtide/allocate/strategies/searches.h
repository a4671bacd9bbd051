// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>

#include "lowtide/allocate/strategies/strategy.h"

namespace lowtide::allocate_internal {

// Asks the exact search of the problem's own form whether the target can be reached.
[[nodiscard]] std::unique_ptr<Strategy> make_search_target(StrategyContext& context, std::span<const StrategyRow> rows);

// Asks the search over sets of cliques the same question, if lifespans are plain. Each of the two searches solves
// problems on which the other one does not end.
[[nodiscard]] std::unique_ptr<Strategy> make_search_as_sets(StrategyContext& context,
                                                            std::span<const StrategyRow> rows);

// Asks the exact search for heights between the target and the best.
[[nodiscard]] std::unique_ptr<Strategy> make_search_between(StrategyContext& context,
                                                            std::span<const StrategyRow> rows);

// Asks the exact search for the bound itself, after the run has stopped at a height in the same unit of alignment.
[[nodiscard]] std::unique_ptr<Strategy> make_search_within_unit(StrategyContext& context,
                                                                std::span<const StrategyRow> rows);

// Local search from the best answer. Each run has another seed.
[[nodiscard]] std::unique_ptr<Strategy> make_ejection(StrategyContext& context, std::span<const StrategyRow> rows);

}  // namespace lowtide::allocate_internal
