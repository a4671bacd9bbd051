// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string_view>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/placements.h"
#include "lowtide/allocate/problem/structure_bound.h"
#include "lowtide/allocate/strategies/strategy.h"

namespace lowtide::allocate_internal {

// All strategies for a problem without groups, in the order in which they run. To add one, write a class that derives
// from Strategy, and give it a row in table.cc. (Groups have one more strategy: groups/allocate_groups.h.)

// A strategy for the first answer. It always ends, whatever the effort.
struct FirstAnswerRow {
  std::string_view name;
  std::string_view does;
  bool (*is_suitable)(const CompressedProblem& problem);
  Placements (*run)(const CompressedProblem& problem, const ConflictFacts& facts, Effort& effort);
};

// Exactly one row is suitable for each problem.
[[nodiscard]] std::span<const FirstAnswerRow> first_answers();

// Tried in phases after the first answer, until the stopping rule holds.
[[nodiscard]] std::span<const StrategyRow> strategies();

// Tried once when the phases are over.
[[nodiscard]] std::span<const StrategyRow> last_strategies();

}  // namespace lowtide::allocate_internal
