// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/task/capacity.h"

#include <algorithm>

#include "lowtide/pipeline/place/assemble.h"

namespace lowtide::pipeline_internal {
namespace {

bool follows_arena(const std::optional<Weights>& weights, RegionId region) {
  return weights && weights->id == region && weights->bytes > Bytes(0);
}

}  // namespace

Bytes caller_bytes(const Graph& graph) {
  Bytes bytes;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.role == Role::input || tensor.role == Role::state) bytes += tensor.size;
  }
  return bytes;
}

std::optional<Bytes> arena_budget(std::optional<Bytes> budget, Bytes caller) {
  if (!budget) return std::nullopt;
  return *budget > caller ? *budget - caller : Bytes(0);
}

std::optional<Bytes> capacity_for_arena(const Machine& machine, RegionId region,
                                        const std::optional<Weights>& weights) {
  return follows_arena(weights, region) ? weights->left() : machine.regions[region.index()].capacity;
}

Machine without_weights(Machine machine, const std::optional<Weights>& weights) {
  if (weights && weights->left())
    machine.regions[weights->id.index()].capacity = *weights->left() - rounded_down(weights);
  return machine;
}

Bytes rounded_down(const std::optional<Weights>& weights) {
  if (!weights || !weights->left() || weights->bytes == Bytes(0)) return Bytes(0);
  return Bytes(weights->left()->count() % weights->region.alignment.count());
}

Machine capped_machine(Machine machine, std::optional<Bytes> budget) {
  if (!budget) return machine;
  Bytes left = *budget;
  for (RegionId id : writable_regions(machine, kWorker)) {
    Region& region = machine.regions[id.index()];
    region.capacity = std::min(region.capacity.value_or(left), left);
    left -= *region.capacity;
  }
  return machine;
}

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

std::optional<Bytes> total_capacity(const Machine& machine) {
  Bytes total;
  for (RegionId id : writable_regions(machine, kWorker)) {
    const std::optional<Bytes>& capacity = machine.regions[id.index()].capacity;
    if (!capacity) return std::nullopt;
    total += *capacity;
  }
  return total;
}

RegionId last_region(const Machine& machine) { return writable_regions(machine, kWorker).back(); }

Bytes overflow(const Machine& machine, const Layout& layout) {
  const std::size_t last = last_region(machine).index();
  const std::optional<Bytes>& capacity = machine.regions[last].capacity;
  const Bytes arena = layout.arena[last];
  return capacity && arena > *capacity ? arena - *capacity : Bytes(0);
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
