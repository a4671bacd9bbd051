// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/lowest_peak.h"

#include <algorithm>
#include <optional>

#include "lowtide/budget/runs/evict.h"
#include "lowtide/budget/runs/load_scan.h"
#include "lowtide/budget/runs/retain.h"

namespace lowtide::budget_internal {

Runs find_lowest_peak(const RunProblem& problem, const Runs& order, const FloorSearch& floor, const Runs& runs,
                      std::int64_t& work) {
  LoadScan scan(problem);
  Runs best = runs;
  RunProblem larger = problem;
  std::int64_t high = scan.scan(best).peak;
  std::int64_t low = std::min(std::max(floor.bound(), problem.budget + 1), high);
  for (larger.budget = low; low < high && work > 0; larger.budget = low + (high - low) / 2) {
    for (int chain_quarters : {4, 0}) {
      const EvictionRule rule{.chain_quarters = chain_quarters, .uses_distance = true};
      const std::optional<Runs> evicted = evict_along(larger, order, rule, floor, work);
      if (!evicted) continue;
      const Loads loads = scan.scan(*evicted);
      if (!loads.is_valid || loads.peak >= high) continue;
      best = *evicted;
      high = loads.peak;
    }
    if (high > larger.budget) low = larger.budget + 1;
  }
  larger.budget = high;
  Runs fewer = retain_outputs(larger, best, work);
  return scan.scan(fewer).peak <= high ? fewer : best;
}

}  // namespace lowtide::budget_internal
