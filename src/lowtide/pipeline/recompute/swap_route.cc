// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/recompute/swap_route.h"

#include <algorithm>

#include "lowtide/pipeline/task/worker.h"

namespace lowtide::pipeline_internal {
namespace {

std::optional<LinkId> link_between(const Machine& machine, RegionId from, RegionId to) {
  for (LinkId id : all_ids<LinkId>(machine.links.size())) {
    if (machine.links[id].from == from && machine.links[id].to == to) return id;
  }
  return std::nullopt;
}

}  // namespace

std::optional<SwapRoute> swap_route(const Machine& machine) {
  const std::vector<RegionId> arenas = writable_regions(machine, kWorker);
  if (arenas.size() != 1) return std::nullopt;
  for (RegionId id : all_ids<RegionId>(machine.regions.size())) {
    if (!is_outside(machine, id)) continue;
    const std::optional<LinkId> out = link_between(machine, arenas.front(), id);
    const std::optional<LinkId> in = link_between(machine, id, arenas.front());
    if (out && in) return SwapRoute{.outside = id, .out = *out, .in = *in};
  }
  return std::nullopt;
}

TransferLink slower_link(const Machine& machine, const SwapRoute& route, std::int64_t nanoseconds) {
  const Link& out = machine.links[route.out];
  const Link& in = machine.links[route.in];
  const std::int64_t latency = std::max(out.latency_picoseconds, in.latency_picoseconds);
  return {.bytes_per_second = std::min(out.bytes_per_second, in.bytes_per_second),
          .latency_nanoseconds = std::min(
              latency / kPicosecondsPerNanosecond + (latency % kPicosecondsPerNanosecond == 0 ? 0 : 1), kMaxTime),
          .nanoseconds_per_cost = nanoseconds};
}

TransferLink faster_link(const Machine& machine, const SwapRoute& route, std::int64_t nanoseconds) {
  const Link& out = machine.links[route.out];
  const Link& in = machine.links[route.in];
  return {.bytes_per_second = std::max(out.bytes_per_second, in.bytes_per_second),
          .latency_nanoseconds =
              std::min(std::min(out.latency_picoseconds, in.latency_picoseconds) / kPicosecondsPerNanosecond, kMaxTime),
          .nanoseconds_per_cost = nanoseconds};
}

}  // namespace lowtide::pipeline_internal
