// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/task/capacity.h"

#include <algorithm>

#include "lowtide/pipeline/task/worker.h"

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

bool follows_arena(const std::optional<Weights>& weights, RegionId region) {
  return weights && weights->id == region && weights->bytes > Bytes(0);
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

}  // namespace lowtide::pipeline_internal
