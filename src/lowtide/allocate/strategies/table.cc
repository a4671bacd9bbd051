// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/table.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "lowtide/allocate/greedy/best_fit.h"
#include "lowtide/allocate/greedy/orders.h"
#include "lowtide/allocate/greedy/placer.h"
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

Placements greedy_by_size_without_limit(const CompressedProblem& problem, const NamedConflicts& conflicts,
                                        Effort& effort) {
  Effort unlimited{.limit = std::numeric_limits<std::int64_t>::max()};
  Placer placer(problem, conflicts.graph ? &*conflicts.graph : nullptr);
  std::optional<Placements> placements = place_in_order(placer, greedy_by_size(problem), GapRule::lowest, unlimited);
  LOWTIDE_CHECK(placements.has_value(), "a greedy order without a limit always ends");
  effort.spend(unlimited.spent);
  return *std::move(placements);
}

const FirstAnswerRow kFirstAnswers[] = {
    {.name = "best_fit",
     .does = "sweeps over time and gives each buffer the tightest free range; needs no pairs of buffers",
     .is_suitable = [](const CompressedProblem& problem) { return problem.pairs.empty(); },
     .run = [](const CompressedProblem& problem, const NamedConflicts& /*conflicts*/,
               Effort& effort) { return best_fit(problem, effort); }},
    {.name = "greedy_by_size",
     .does = "places the largest first, each at its lowest free offset; for conflicts that time does not show",
     .is_suitable = [](const CompressedProblem& problem) { return !problem.pairs.empty(); },
     .run = greedy_by_size_without_limit},
};

const StrategyRow kStrategies[] = {
    {.name = "greedy_by_...",
     .does = "places one buffer after another, in nine orders; each looks at every pair in conflict once",
     .is_tried = always,
     // In the first phase a share that is large enough for the two best orders.
     .effort =
         [](const StrategyContext& context, const Phase& phase) {
           if (!phase.is_first) return phase.limit / 8;
           return context.graph() != nullptr ? phase.limit / 2 : phase.limit / 4;
         },
     .make = make_greedy_orders},
    {.name = "search",
     .does =
         "asks the exact search whether the target can be reached: often the easiest question, since few options are "
         "left",
     .is_tried = always,
     .effort =
         [](const StrategyContext& /*context*/, const Phase& phase) {
           return std::min(phase.limit / 2, tuning::kSearchTargetEffort + phase.limit / 32);
         },
     .make = make_search_target},
    {.name = "search",
     .does = "asks the same question of the search over cliques",
     .is_tried = [](const StrategyContext& /*context*/,
                    const Phase& phase) { return phase.limit >= tuning::kFirstPhaseAsCliques; },
     .effort = [](const StrategyContext& /*context*/, const Phase& phase) { return phase.limit / 4; },
     .make = make_search_as_sets},
    {.name = "large_first",
     .does = "packs the large buffers with the other strategies, then the small ones around them",
     .is_tried = unless_infeasible,
     .effort = [](const StrategyContext& /*context*/, const Phase& phase) { return phase.limit / 2; },
     .make = make_large_first},
    {.name = "ejection",
     .does = "lowers the best by a local search that pushes buffers out of each other's way",
     // Without a graph, ejection finds conflicts by time, which does not show named pairs.
     .is_tried = [](const StrategyContext& context,
                    const Phase& /*phase*/) { return context.graph() != nullptr || context.problem.pairs.empty(); },
     .effort = [](const StrategyContext& context,
                  const Phase& phase) { return context.descent ? phase.limit / 4 : phase.limit; },
     .make = make_ejection},
    {.name = "search",
     .does = "asks the exact search for heights between the target and the best",
     .is_tried = always,
     .effort = [](const StrategyContext& /*context*/, const Phase& phase) { return phase.limit / 2; },
     .make = make_search_between},
};

const StrategyRow kLastStrategies[] = {
    {.name = "search",
     .does = "lowers a height at which the search stopped, within one unit of alignment above the bound",
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
