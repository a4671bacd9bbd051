// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "tests/verify/byte_oracle.h"

namespace lowtide::testing {
namespace {

void add_constants(const Graph& graph, std::vector<Bytes>& sizes) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.role == Role::constant && !tensor.is_captured && tensor.size > Bytes(0)) sizes.push_back(tensor.size);
  }
  for (const Node& node : graph.nodes()) {
    for (const Body& body : node.bodies) add_constants(*body.graph, sizes);
  }
}

// Tries each constant as the last one, which alone needs no padding after it.
Bytes least_end(const std::vector<Bytes>& sizes, Bytes arena, Bytes alignment) {
  if (sizes.empty()) return arena;
  Bytes all = round_up(arena, alignment);
  for (Bytes size : sizes) all += round_up(size, alignment);
  Bytes least = all;
  for (Bytes size : sizes) least = std::min(least, all - round_up(size, alignment) + size);
  return least;
}

}  // namespace

std::vector<std::string> constant_faults(const Graph& graph, const Plan& plan) {
  std::vector<std::string> faults;
  const std::optional<RegionId>& stated = plan.machine.constants;
  for (const Buffer& buffer : plan.layout.buffers) {
    const std::optional<RegionId> region = buffer.placement ? buffer.placement->region : buffer.home;
    if (!region) continue;
    const bool is_constant = buffer.kind == BufferKind::constant;
    if (is_constant && stated && *region != *stated) faults.emplace_back("all constants are in one region");
    if (!is_constant && plan.machine.regions[region->index()].is_read_only)
      faults.emplace_back("a read-only region holds only constants");
  }
  if (!stated || !plan.machine.regions[stated->index()].capacity) return faults;
  const Region& region = plan.machine.regions[stated->index()];
  std::vector<Bytes> sizes;
  add_constants(graph, sizes);
  if (least_end(sizes, plan.layout.arena[stated->index()], region.alignment) > *region.capacity)
    faults.emplace_back("the region of the constants holds them and its arena");
  return faults;
}

}  // namespace lowtide::testing
