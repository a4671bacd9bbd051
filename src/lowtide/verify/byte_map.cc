// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/byte_map.h"

#include <algorithm>

namespace lowtide::verification {
namespace {

Place place_in(const Plan& plan, BufferId id, std::int64_t offset, std::int64_t size) {
  const Buffer& buffer = plan.buffers[id];
  if (!buffer.placement) return {plan.regions.size() + id.index(), {offset, offset + size}};
  const std::int64_t begin = buffer.placement->offset.position() + offset;
  return {buffer.placement->region.index(), {begin, begin + size}};
}

}  // namespace

ByteMap::ByteMap(const Plan& plan, const Graph& graph)
    : regions_(plan.regions.size()), values_(plan.values.size()), scratch_(plan.program.size()) {
  for (ValueId id : all_ids<ValueId>(plan.values.size())) {
    const Value& value = plan.values[id];
    values_[id] = place_in(plan, value.buffer, value.offset.position(), graph.tensor(value.tensor).size.count());
  }
  for (StepId id : all_ids<StepId>(plan.program.size())) {
    const std::optional<BufferId>& scratch = plan.program[id].scratch;
    if (scratch) scratch_[id] = place_in(plan, *scratch, 0, plan.buffers[*scratch].size.count());
  }
  const auto cut_at_ends = [&](const Place& place) {
    if (place.bytes.empty()) return;
    cuts_.push_back({place.storage, place.bytes.begin});
    cuts_.push_back({place.storage, place.bytes.end});
  };
  cuts_.reserve(2 * values_.size());
  for (const Place& place : values_) cut_at_ends(place);
  for (const Place& place : scratch_) cut_at_ends(place);
  std::sort(cuts_.begin(), cuts_.end());
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  value_cells_.reserve(values_.size());
  for (const Place& place : values_) value_cells_.push_back(cells_in(place));
}

std::optional<RegionId> ByteMap::region_of(const Place& place) const {
  if (place.storage >= regions_) return std::nullopt;
  return RegionId(static_cast<std::uint32_t>(place.storage));
}

BufferId ByteMap::buffer_of(const Place& place) const {
  return BufferId(static_cast<std::uint32_t>(place.storage - regions_));
}

WriteClock::Cells ByteMap::cells_in(const Place& place) const {
  if (place.bytes.empty()) return {};
  const auto index = [&](std::int64_t at) {
    const auto cut = std::lower_bound(cuts_.begin(), cuts_.end(), Cut{place.storage, at});
    return static_cast<std::uint32_t>(cut - cuts_.begin());
  };
  return {index(place.bytes.begin), index(place.bytes.end)};
}

}  // namespace lowtide::verification
