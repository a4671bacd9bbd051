// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/machine.h"

#include <algorithm>

namespace lowtide {

bool can_address(const Worker& worker, RegionId region) {
  return worker.addressable.empty() || std::binary_search(worker.addressable.begin(), worker.addressable.end(), region);
}

std::vector<RegionId> writable_regions(const Machine& machine, WorkerId worker) {
  std::vector<RegionId> regions;
  for (RegionId id : all_ids<RegionId>(machine.regions.size())) {
    if (can_address(machine.workers[worker], id) && !machine.regions[id.index()].is_read_only) regions.push_back(id);
  }
  return regions;
}

bool is_outside(const Machine& machine, RegionId region) {
  const auto& workers = machine.workers;
  return !workers.empty() && std::none_of(workers.begin(), workers.end(),
                                          [&](const Worker& worker) { return can_address(worker, region); });
}

}  // namespace lowtide
