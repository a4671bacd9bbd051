// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/allocate.h"

#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "lowtide/allocate/greedy/best_fit.h"
#include "lowtide/allocate/greedy/orders.h"
#include "lowtide/allocate/greedy/placer.h"
#include "lowtide/allocate/groups/allocate_groups.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/goal.h"
#include "lowtide/allocate/problem/incumbent.h"
#include "lowtide/allocate/problem/named_conflicts.h"
#include "lowtide/allocate/problem/validate.h"
#include "lowtide/allocate/strategies/portfolio.h"

namespace lowtide {
namespace {

PackingOutcome outcome_of(const Packing& packing, std::optional<Bytes> capacity) {
  if (!capacity || packing.height <= *capacity) return PackingOutcome::found;
  return packing.bound > *capacity ? PackingOutcome::infeasible : PackingOutcome::not_found;
}

// What is known before the search for a bound has ended.
Packing packing_of(const CompressedProblem& problem, const StructureBound& bound, const Goal& goal,
                   const Placements& placements, std::string_view strategy) {
  Packing packing;
  packing.offsets.reserve(placements.offsets.size());
  for (std::int64_t offset : placements.offsets) packing.offsets.push_back(Offset(offset));
  packing.height = Bytes(placements.height);
  packing.bound = Bytes(goal.bound());
  packing.proven_optimal = placements.height == goal.bound();
  packing.strategy = strategy;
  packing.is_bound_searched = goal.bound() > bound.height;
  if (!problem.times.empty()) packing.witness_time = problem.times[bound.witness];
  packing.witness_buffers = bound.clique;
  return packing;
}

// The first answer, of any size. Mostly from the one that needs no pairs: on most networks it meets the bound. It
// sweeps over time, which knows nothing of named pairs: where there are some, from the greedy order that does without
// time.
Incumbent first_answer(const CompressedProblem& problem, const NamedConflicts& named, Incumbent::Listener listener,
                       Effort& effort) {
  if (problem.pairs.empty()) return {best_fit(problem, effort), "best_fit", std::move(listener)};
  Effort unlimited{.limit = std::numeric_limits<std::int64_t>::max()};
  Placer placer(problem, named.graph ? &*named.graph : nullptr);
  std::optional<Placements> placements = place_in_order(placer, greedy_by_size(problem), GapRule::lowest, unlimited);
  effort.spend(unlimited.spent);
  return {*std::move(placements), "greedy_by_size", std::move(listener)};
}

Packing allocate_buffers(const PackingProblem& problem, const AllocateOptions& options) {
  const CompressedProblem compressed = compress(problem);
  Effort effort{.limit = options.effort, .stop = options.stop};
  NamedConflicts named = named_conflicts(compressed, effort);
  const StructureBound bound = structure_bound(compressed, named);
  Goal goal(compressed, bound.height, problem.capacity);

  const auto packing_now = [&](const Placements& placements, std::string_view strategy) {
    Packing packing = packing_of(compressed, bound, goal, placements, strategy);
    packing.outcome = outcome_of(packing, problem.capacity);
    return packing;
  };
  Incumbent::Listener listener;
  if (options.on_improvement) {
    listener = [&](const Placements& placements, std::string_view strategy) {
      options.on_improvement(packing_now(placements, strategy));
    };
  }

  Incumbent best = first_answer(compressed, named, listener, effort);
  Portfolio portfolio(compressed, std::move(named), goal, best, effort, options.threads);
  portfolio.run();
  portfolio.lower_within_unit();
  LOWTIDE_CHECK(best.height() >= goal.bound(), "no packing is lower than the bound");

  Packing packing = packing_now(best.placements(), best.strategy());
  packing.decisions = portfolio.decisions();
  return packing;
}

}  // namespace

Result<Packing> allocate(const PackingProblem& problem, const AllocateOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(validate_packing_problem(problem));
  if (!problem.together.empty()) return allocate_groups(problem, options, allocate_buffers);
  return allocate_buffers(problem, options);
}

}  // namespace lowtide
