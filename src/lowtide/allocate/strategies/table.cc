// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/table.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "lowtide/allocate/greedy/best_fit.h"
#include "lowtide/allocate/greedy/greedy_allocator.h"
#include "lowtide/allocate/greedy/orders.h"
#include "lowtide/allocate/strategies/busiest_first.h"
#include "lowtide/allocate/strategies/greedy_orders.h"
#include "lowtide/allocate/strategies/large_first.h"
#include "lowtide/allocate/strategies/searches.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/check.h"

namespace lowtide::allocate_internal {
namespace {

bool always(const StrategyContext& /*context*/, const Phase& /*phase*/) { return true; }
bool unless_infeasible(const StrategyContext& context, const Phase& /*phase*/) {
  return !context.stopping.is_infeasible();
}

bool is_first_of_large(const StrategyContext& context, const Phase& phase) {
  return phase.is_first && context.is_large() && !context.stopping.is_infeasible();
}

Placements greedy_by_size_without_limit(const CompressedProblem& problem, const ConflictFacts& facts, Effort& effort) {
  Effort unlimited{.limit = std::numeric_limits<std::int64_t>::max()};
  GreedyAllocator allocator(problem, facts.graph ? &*facts.graph : nullptr);
  std::optional<Placements> placements =
      allocate_in_order(allocator, greedy_by_size(problem), FitRule::lowest, unlimited);
  LOWTIDE_CHECK(placements.has_value(), "a greedy order without a limit always ends");
  effort.spend(unlimited.spent);
  return *std::move(placements);
}

const FirstAnswerRow kFirstAnswers[] = {
    {.name = "best_fit",
     .does = "sweeps over time and gives each buffer the tightest free range; needs no table of conflicts",
     .is_suitable = [](const CompressedProblem& problem) { return problem.pairs.empty(); },
     .run = [](const CompressedProblem& problem, const ConflictFacts& /*facts*/,
               Effort& effort) { return best_fit(problem, effort); }},
    {.name = "greedy_by_size",
     .does = "assigns the largest first, each to its lowest free offset; for a relation that replaces time",
     .is_suitable = [](const CompressedProblem& problem) { return !problem.pairs.empty(); },
     .run = greedy_by_size_without_limit},
};

const StrategyRow kStrategies[] = {
    {.name = "greedy_by_...",
     .does = "assigns one buffer after another, in the order that wins most often",
     .is_tried = is_first_of_large,
     .effort = [](const StrategyContext& /*context*/, const Phase& phase) { return phase.limit; },
     .make = make_first_greedy_order},
    {.name = "busiest_first",
     .does = "packs the buffers of the busiest moments by the exact search, then the others by a greedy order",
     .is_tried = is_first_of_large,
     .effort = [](const StrategyContext& /*context*/, const Phase& /*phase*/) { return tuning::kBusiestSearchEffort; },
     .make = make_busiest_search},
    {.name = "greedy_by_...",
     .does = "assigns one buffer after another, with twelve pairs of an order and a fit rule",
     .is_tried = always,
     .effort =
         [](const StrategyContext& /*context*/, const Phase& phase) {
           return phase.limit / (phase.is_first ? tuning::kGreedyFirstShare : tuning::kGreedyShare);
         },
     .make = make_greedy_orders},
    {.name = "search",
     .does = "asks the exact search whether the target can be reached, which is often its easiest question",
     .is_tried = always,
     .effort =
         [](const StrategyContext& /*context*/, const Phase& phase) {
           return std::min(phase.limit / tuning::kSearchTargetShare,
                           tuning::kSearchTargetEffort + phase.limit / tuning::kSearchTargetLateShare);
         },
     .make = make_search_target},
    {.name = "search",
     .does = "asks the search over sets of cliques the same question",
     .is_tried = [](const StrategyContext& /*context*/,
                    const Phase& phase) { return phase.limit >= tuning::kFirstPhaseAsSets; },
     .effort = [](const StrategyContext& /*context*/, const Phase& phase) { return phase.limit / tuning::kSetsShare; },
     .make = make_search_as_sets},
    {.name = "large_first",
     .does = "packs the large buffers with the other strategies, then the small ones around them",
     .is_tried = unless_infeasible,
     .effort = [](const StrategyContext& /*context*/,
                  const Phase& phase) { return phase.limit / tuning::kLargeFirstShare; },
     .make = make_large_first},
    {.name = "busiest_first",
     .does = "packs the buffers of the busiest moments with the other strategies, then the others around them",
     // An exact search of the whole problem needs no search of its busiest moments.
     .is_tried = [](const StrategyContext& context,
                    const Phase& /*phase*/) { return !context.descent && !context.stopping.is_infeasible(); },
     .effort = [](const StrategyContext& /*context*/,
                  const Phase& phase) { return phase.limit / tuning::kBusiestFirstShare; },
     .make = make_busiest_first},
    {.name = "ejection",
     .does = "lowers the best by a local search, in which buffers push each other out of the way",
     // Without a graph, ejection finds conflicts by time. A relation shows none there.
     .is_tried = [](const StrategyContext& context,
                    const Phase& /*phase*/) { return context.relation() != nullptr || context.problem.pairs.empty(); },
     .effort =
         [](const StrategyContext& context, const Phase& phase) {
           if (!context.descent) return phase.limit;
           const bool has_capacity = context.stopping.has_capacity();
           return phase.limit / (has_capacity ? tuning::kEjectionCapacityShare : tuning::kEjectionShare);
         },
     .make = make_ejection},
    {.name = "search",
     .does = "asks the exact search for heights between the target and the best",
     .is_tried = always,
     .effort = [](const StrategyContext& /*context*/,
                  const Phase& phase) { return phase.limit / tuning::kSearchBetweenShare; },
     .make = make_search_between},
};

const StrategyRow kLastStrategies[] = {
    {.name = "search",
     .does = "lowers a height at which the run has stopped, within one unit of alignment above the bound",
     .is_tried =
         [](const StrategyContext& context, const Phase& /*phase*/) {
           const std::int64_t height = context.best.height();
           return height != context.stopping.bound() && !context.stopping.has_capacity() &&
                  context.stopping.stops_at(height);
         },
     .effort = [](const StrategyContext& /*context*/, const Phase& /*phase*/) { return tuning::kWithinUnitEffort; },
     .make = make_search_within_unit},
};

}  // namespace

std::span<const FirstAnswerRow> first_answers() { return kFirstAnswers; }
std::span<const StrategyRow> strategies() { return kStrategies; }
std::span<const StrategyRow> last_strategies() { return kLastStrategies; }

}  // namespace lowtide::allocate_internal
