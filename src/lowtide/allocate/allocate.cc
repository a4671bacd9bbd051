// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/allocate.h"

#include <string_view>
#include <utility>

#include "lowtide/allocate/best_fit.h"
#include "lowtide/allocate/compressed.h"
#include "lowtide/allocate/effort.h"
#include "lowtide/allocate/goal.h"
#include "lowtide/allocate/incumbent.h"
#include "lowtide/allocate/load_bound.h"
#include "lowtide/allocate/portfolio.h"
#include "lowtide/allocate/validate.h"

namespace lowtide {
namespace {

PackingOutcome outcome_of(const Packing& packing, std::optional<Bytes> capacity) {
  if (!capacity || packing.height <= *capacity) return PackingOutcome::found;
  return packing.bound > *capacity ? PackingOutcome::infeasible : PackingOutcome::not_found;
}

// What is known before the search for a bound has ended.
Packing packing_of(const CompressedProblem& problem, const HeightBound& load, const Goal& goal,
                   const Placements& placements, std::string_view strategy) {
  Packing packing;
  packing.offsets.reserve(placements.offsets.size());
  for (std::int64_t offset : placements.offsets) packing.offsets.push_back(Offset(offset));
  packing.height = Bytes(placements.height);
  packing.bound = Bytes(goal.bound());
  packing.proven_optimal = placements.height == goal.bound();
  packing.strategy = strategy;
  packing.is_bound_searched = goal.bound() > load.height;
  if (!placements.offsets.empty()) packing.witness_time = problem.times[load.witness];
  return packing;
}

}  // namespace

Result<Packing> allocate(const PackingProblem& problem, const AllocateOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(validate_packing_problem(problem));
  const CompressedProblem compressed = compress(problem);
  const HeightBound load = height_bound(compressed);
  Goal goal(compressed, load.height, problem.capacity);

  const auto packing_now = [&](const Placements& placements, std::string_view strategy) {
    Packing packing = packing_of(compressed, load, goal, placements, strategy);
    packing.outcome = outcome_of(packing, problem.capacity);
    return packing;
  };
  Incumbent::Listener listener;
  if (options.on_improvement) {
    listener = [&](const Placements& placements, std::string_view strategy) {
      options.on_improvement(packing_now(placements, strategy));
    };
  }

  // First the one that needs no pairs: it answers for any size, and on most networks it meets the bound.
  Effort effort{.limit = options.effort, .stop = options.stop};
  Incumbent best(best_fit(compressed, effort), "best_fit", listener);
  Portfolio portfolio(compressed, goal, best, effort, options.threads);
  portfolio.run();
  portfolio.lower_within_unit();
  LOWTIDE_CHECK(best.height() >= goal.bound(), "no packing is lower than the bound");

  Packing packing = packing_now(best.placements(), best.strategy());
  packing.decisions = portfolio.decisions();
  return packing;
}

}  // namespace lowtide
