// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/portfolio.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "lowtide/allocate/problem/phases.h"

namespace lowtide::allocate_internal {
namespace {

// Effort of the first phase, unless the problem has so many pairs that one greedy order costs more.
constexpr std::int64_t kFirstPhase = 500'000;

// All strategies may give up early and leave effort that nothing will spend. A phase this many times larger than the
// effort is the last.
constexpr std::int64_t kPhasesBeyondEffort = 8;

}  // namespace

void run_portfolio(StrategyContext& context, std::span<const StrategyRow> rows) {
  if (context.is_over()) return;
  context.prepare();
  std::vector<std::unique_ptr<Strategy>> strategies;
  for (const StrategyRow& row : rows) strategies.push_back(row.make(context, rows));
  bool is_first = true;
  run_phases({.first = std::max(kFirstPhase, 4 * context.pairs)}, [&](std::int64_t limit) {
    const Phase phase{.limit = limit, .is_first = is_first};
    is_first = false;
    for (std::size_t at = 0; at < rows.size() && !context.is_over(); ++at) {
      if (rows[at].is_tried(context, phase)) strategies[at]->run(rows[at].effort(context, phase));
    }
    const bool is_last = context.goal.is_out_of_reach() || limit / kPhasesBeyondEffort > context.effort.limit;
    return !context.is_over() && !is_last;
  });
}

}  // namespace lowtide::allocate_internal
