// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_candidates.h"

#include <algorithm>
#include <span>
#include <utility>

#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {
namespace {

// Raises the bounds towards the cost of the cheapest choice, or towards the highest possible cost if it is incomplete.
void raise_bounds(const RegionModel& model, const RegionChoice& cheapest, IdVector<LevelId, RegionBound>& bounds,
                  Effort& effort) {
  for (LevelId level : model.levels()) {
    std::int64_t target = cheapest.cost()[level];
    if (cheapest.unassigned() > 0) {
      target = 0;
      for (GroupId group : model.groups()) target += model.weighted_bytes(group);
    }
    effort.spend(bounds[level].raise(target, tuning::kRegionBoundWork));
  }
}

// Each group in the cheapest region that allows it, or unassigned if it does not fit there.
RegionChoice relaxed_choice(const RegionModel& model) {
  RegionChoice relaxed(model);
  for (GroupId group : model.groups()) {
    if (model.allowed(group).empty()) continue;
    const RegionId cheapest = model.allowed(group).first();
    if (relaxed.fits(group, cheapest)) relaxed.put(group, cheapest);
  }
  return relaxed;
}

}  // namespace

void add_candidate(std::vector<RegionCandidate>& candidates, RegionChoice choice, std::string_view strategy) {
  const auto is_same = [&](const RegionCandidate& other) { return other.choice.regions() == choice.regions(); };
  if (std::any_of(candidates.begin(), candidates.end(), is_same)) return;
  const auto is_before = [](const RegionCandidate& a, const RegionCandidate& b) {
    return a.choice.unassigned() != b.choice.unassigned() ? a.choice.unassigned() < b.choice.unassigned()
                                                          : a.choice.cost() < b.choice.cost();
  };
  RegionCandidate candidate{std::move(choice), std::string(strategy)};
  const auto at = std::upper_bound(candidates.begin(), candidates.end(), candidate, is_before);
  candidates.insert(at, std::move(candidate));
}

std::vector<RegionCandidate> collect_candidates(const RegionModel& model, IdVector<LevelId, RegionBound>& bounds,
                                                Effort& effort) {
  std::vector<RegionCandidate> candidates;
  add_candidate(candidates, relaxed_choice(model), "all_preferred");
  if (candidates.front().choice.unassigned() > 0) {
    const auto add_greedy = [&](KeepRule rule) {
      RegionChoice choice = choose_greedily(model, bounds, rule);
      Effort moves{.limit = tuning::kRegionLoadMovesEffort, .stop = effort.stop};
      (void)improve_by_moves(model, choice, moves, [](std::span<const GroupId>) { return true; });
      effort.spend(moves.spent);
      add_candidate(candidates, std::move(choice), name_of(rule));
    };
    for (KeepRule rule : {KeepRule::use, KeepRule::crowd_use, KeepRule::size}) add_greedy(rule);
    raise_bounds(model, candidates.front().choice, bounds, effort);
    add_greedy(KeepRule::price);
  } else {
    raise_bounds(model, candidates.front().choice, bounds, effort);
  }
  return candidates;
}

}  // namespace lowtide::allocate_internal
