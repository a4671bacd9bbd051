// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/capacity.h"

#include <algorithm>

#include "lowtide/pipeline/assemble.h"

namespace lowtide::pipeline_internal {

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

Machine capped_machine(Machine machine, std::optional<Bytes> budget) {
  if (!budget) return machine;
  Bytes left = *budget;
  for (RegionId id : addressable_regions(machine, kWorker)) {
    Region& region = machine.regions[id.index()];
    region.capacity = std::min(region.capacity.value_or(left), left);
    left -= *region.capacity;
  }
  return machine;
}

std::optional<Bytes> total_capacity(const Machine& machine) {
  Bytes total;
  for (RegionId id : addressable_regions(machine, kWorker)) {
    const std::optional<Bytes>& capacity = machine.regions[id.index()].capacity;
    if (!capacity) return std::nullopt;
    total += *capacity;
  }
  return total;
}

RegionId last_region(const Machine& machine) { return addressable_regions(machine, kWorker).back(); }

Bytes overflow(const Machine& machine, const Layout& layout) {
  const std::size_t last = last_region(machine).index();
  const std::optional<Bytes>& capacity = machine.regions[last].capacity;
  const Bytes arena = layout.arena[last];
  return capacity && arena > *capacity ? arena - *capacity : Bytes(0);
}

Bytes shortfall(const Layout& layout, const Target& target, std::optional<Bytes> budget) {
  const std::size_t last = last_region(target.machine).index();
  const std::optional<Bytes>& capacity = target.machine.regions[last].capacity;
  const Bytes arena = layout.arena[last];
  Bytes missing;
  if (capacity && arena > *capacity) missing = arena - *capacity;
  const Bytes all = arena_bytes(layout);
  if (budget && all > *budget) missing = std::max(missing, all - *budget);
  return missing;
}

Bytes shortfall_of(const Task& task, const Layout& layout) {
  if (task.is_body() || overflow(task.machine, layout) == Bytes(0)) return Bytes(0);
  return shortfall(layout, task.target, task.arena_budget);
}

void relax_last_region(Plan& plan, const Target& target, std::optional<Bytes> budget) {
  if (overflow(plan) == Bytes(0)) return;
  const std::size_t last = last_region(plan.machine).index();
  const bool fits = shortfall(plan.layout, target, budget) == Bytes(0);
  plan.machine.regions[last].capacity = fits ? target.machine.regions[last].capacity : std::nullopt;
}

}  // namespace lowtide::pipeline_internal
