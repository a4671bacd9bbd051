// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/allocate_ungrouped.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "lowtide/allocate/problem/answer.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/incumbent.h"
#include "lowtide/allocate/problem/stopping_rule.h"
#include "lowtide/allocate/problem/structure_bound.h"
#include "lowtide/allocate/strategies/portfolio.h"
#include "lowtide/allocate/strategies/table.h"
#include "lowtide/base/check.h"

namespace lowtide::allocate_internal {
namespace {

Incumbent first_answer(const CompressedProblem& problem, const ConflictFacts& facts, Incumbent::Listener listener,
                       Effort& effort) {
  const std::span<const FirstAnswerRow> rows = first_answers();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const FirstAnswerRow& one) { return one.is_suitable(problem); });
  LOWTIDE_CHECK(row != rows.end(), "every problem has a suitable first answer");
  return {row->run(problem, facts, effort), row->name, std::move(listener)};
}

void run_last_strategies(StrategyContext& context) {
  for (const StrategyRow& row : last_strategies()) {
    const Phase phase{};
    if (row.is_tried(context, phase)) row.make(context, {})->run(row.effort(context, phase));
  }
}

}  // namespace

Packing allocate_ungrouped(const PackingProblem& problem, const SolveOptions& options) {
  CompressedProblem compressed = compress(problem);
  Effort effort = options.effort;
  ConflictFacts facts = facts_of_relation(compressed, effort);
  const StructureBound proof = structure_bound(compressed, facts);
  compressed.forget_times();
  StoppingRule stopping(compressed, proof.height, problem.capacity);
  Incumbent::Listener listener;
  if (options.on_improvement) {
    listener = [&](const Placements& placements, std::string_view strategy) {
      options.on_improvement(answer_of(placements, strategy, proof, stopping));
    };
  }
  Incumbent best = first_answer(compressed, facts, std::move(listener), effort);

  StrategyContext context{.problem = compressed,
                          .stopping = stopping,
                          .best = best,
                          .effort = effort,
                          .threads = options.threads,
                          .facts = std::move(facts)};
  run_portfolio(context, strategies());
  run_last_strategies(context);
  LOWTIDE_CHECK(best.height() >= stopping.bound(), "no packing is lower than the bound");

  Packing packing = answer_of(best.placements(), best.strategy(), proof, stopping);
  packing.decisions = context.decisions;
  return packing;
}

}  // namespace lowtide::allocate_internal
