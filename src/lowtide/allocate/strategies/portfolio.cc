// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/portfolio.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "lowtide/allocate/problem/phases.h"
#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {

void run_portfolio(StrategyContext& context, std::span<const StrategyRow> rows) {
  if (context.is_over()) return;
  context.prepare();
  std::vector<std::unique_ptr<Strategy>> strategies;
  for (const StrategyRow& row : rows) strategies.push_back(row.make(context, rows));
  bool is_first = true;
  run_phases({.first = std::max(tuning::kFirstPhase, tuning::kFirstPhasePerPair * context.pairs)},
             [&](std::int64_t limit) {
               const Phase phase{.limit = limit, .is_first = is_first};
               is_first = false;
               for (std::size_t at = 0; at < rows.size() && !context.is_over(); ++at) {
                 if (rows[at].is_tried(context, phase)) strategies[at]->run(rows[at].effort(context, phase));
               }
               const bool is_last =
                   context.stopping.is_infeasible() || limit / tuning::kPhasesBeyondEffort > context.effort.limit;
               return !context.is_over() && !is_last;
             });
}

}  // namespace lowtide::allocate_internal
