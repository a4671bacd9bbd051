// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/target/add_link.h"

#include <algorithm>
#include <string>
#include <utility>

namespace lowtide {
namespace {

std::string unused_name(const Machine& machine) {
  std::string name = "outside";
  const auto is_used = [&](const Region& region) { return region.name == name; };
  while (std::any_of(machine.regions.begin(), machine.regions.end(), is_used)) name += "_";
  return name;
}

}  // namespace

Result<Target> add_link(Target target, const TransferLink& link) {
  Machine& machine = target.machine;
  const std::vector<RegionId> arenas = writable_regions(machine, WorkerId(0));
  if (arenas.size() != 1 || !machine.links.empty()) {
    return Error{ErrorCode::invalid,
                 "a link can be added to a target with one region that its first worker writes, and without links of "
                 "its own; describe the link in the target file",
                 "target " + target.name};
  }
  for (Worker& worker : machine.workers) {
    if (!worker.addressable.empty()) continue;
    for (RegionId id : all_ids<RegionId>(machine.regions.size())) worker.addressable.push_back(id);
  }
  const RegionId outside(static_cast<std::uint32_t>(machine.regions.size()));
  machine.regions.push_back({.name = unused_name(machine), .alignment = machine.regions[arenas[0].index()].alignment});
  for (const auto& [from, to] : {std::pair(arenas[0], outside), std::pair(outside, arenas[0])}) {
    machine.links.push_back({.from = from,
                             .to = to,
                             .bytes_per_second = link.bytes_per_second,
                             .latency_picoseconds = link.latency_nanoseconds * kPicosecondsPerNanosecond});
  }
  return target;
}

Target with_link_of(const Machine& planned, Target target) {
  if (planned.links.empty() || !target.machine.links.empty()) return target;
  const Link& link = planned.links[LinkId(0)];
  Result<Target> with_link =
      add_link(target, {.bytes_per_second = link.bytes_per_second,
                        .latency_nanoseconds = link.latency_picoseconds / kPicosecondsPerNanosecond});
  return with_link ? *std::move(with_link) : target;
}

}  // namespace lowtide
