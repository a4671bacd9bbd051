// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/task/shortfall.h"

#include <algorithm>
#include <utility>

#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/pipeline/task/worker.h"

namespace lowtide::pipeline_internal {

Machine with_smaller_arenas(const Task& task, const std::vector<Bytes>& arenas, Bytes less) {
  Machine machine = without_weights(task.target.machine, task.weights);
  std::vector<RegionId> earlier = writable_regions(machine, kWorker);
  earlier.pop_back();
  std::reverse(earlier.begin(), earlier.end());  // slower regions lose first
  for (RegionId id : earlier) {
    const Bytes arena = arenas[id.index()];
    const Bytes taken = std::min(arena, less);
    machine.regions[id.index()].capacity = arena - taken;
    less -= taken;
  }
  return capped_machine(std::move(machine), task.arena_budget);
}

Bytes shortfall_of(const Task& task, const Layout& layout) {
  if (task.is_body() || overflow(task.machine, layout) == Bytes(0)) return Bytes(0);
  const RegionId last = last_region(task.target.machine);
  const std::optional<Bytes> capacity = capacity_for_arena(task.target.machine, last, task.weights);
  const Bytes arena = follows_arena(task.weights, last)
                          ? round_up(layout.arena[last.index()], task.weights->region.alignment)
                          : layout.arena[last.index()];
  Bytes missing;
  if (capacity && arena > *capacity) missing = arena - *capacity;
  const Bytes all = arena_bytes(task.machine, layout);
  if (task.arena_budget && all > *task.arena_budget) missing = std::max(missing, all - *task.arena_budget);
  return missing;
}

void state_capacities(Plan& plan, const Task& task) {
  const std::vector<Region>& own = task.target.machine.regions;
  const std::size_t last = last_region(plan.machine).index();
  if (overflow(plan) > Bytes(0)) {
    const bool fits = shortfall_of(task, plan.layout) == Bytes(0);
    plan.machine.regions[last].capacity = fits ? own[last].capacity : std::nullopt;
  }
  if (!task.weights) return;
  std::optional<Bytes>& capacity = plan.machine.regions[task.weights->id.index()].capacity;
  if (capacity) capacity = task.weights->excess() == Bytes(0) ? task.weights->region.capacity : std::nullopt;
}

}  // namespace lowtide::pipeline_internal
