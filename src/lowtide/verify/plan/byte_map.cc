// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/plan/byte_map.h"

#include <algorithm>

namespace lowtide::verify_internal {
namespace {

Place place_in(const Plan& plan, BufferId id, std::int64_t offset, std::int64_t size) {
  const Buffer& buffer = plan.layout.buffers[id];
  if (!buffer.placement) return {plan.machine.regions.size() + id.index(), {offset, offset + size}, {}};
  const std::int64_t begin = buffer.placement->offset.position() + offset;
  return {buffer.placement->region.index(), {begin, begin + size}, {}};
}

}  // namespace

ByteMap::ByteMap(const Plan& plan, const Graph& graph)
    : regions_(plan.machine.regions.size()), values_(plan.program.values.size()), scratch_(plan.program.steps.size()) {
  for (ValueId id : all_ids<ValueId>(plan.program.values.size())) {
    const ValuePlace& place = plan.layout.values[id];
    const Tensor& tensor = graph.tensor(plan.program.values[id].tensor);
    values_[id] = place_in(plan, place.buffer, place.offset.position(), tensor.size.count());
  }
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    const std::optional<BufferId>& scratch = plan.layout.steps[id].scratch;
    if (scratch) scratch_[id] = place_in(plan, *scratch, 0, plan.layout.buffers[*scratch].size.count());
  }
  const auto cut_at_ends = [&](const Place& place) {
    if (place.bytes.empty()) return;
    cuts_.push_back({place.storage, place.bytes.begin});
    cuts_.push_back({place.storage, place.bytes.end});
  };
  cuts_.reserve(2 * values_.size());
  for (const Place& place : values_) cut_at_ends(place);
  for (const Place& place : scratch_) cut_at_ends(place);
  for (const Step& step : plan.program.steps) {
    const Copy* copy = std::get_if<Copy>(&step.work);
    if (copy == nullptr) continue;
    for (ValueId value : {step.reads[0], step.writes[0]}) cut_at_ends(range_of(value, copy->bytes));
  }
  std::sort(cuts_.begin(), cuts_.end());
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  for (Place& place : values_) place.cells = cells_in(place);
  for (Place& place : scratch_) place.cells = cells_in(place);
}

Place ByteMap::part_of(ValueId value, const Interval<std::int64_t>& bytes) const {
  Place place = range_of(value, bytes);
  place.cells = cells_in(place);
  return place;
}

// A copy that names bytes beyond the tensor has already been reported.
Place ByteMap::range_of(ValueId value, const Interval<std::int64_t>& bytes) const {
  const Place& place = values_[value];
  const std::int64_t size = place.bytes.end - place.bytes.begin;
  const std::int64_t begin = std::clamp<std::int64_t>(bytes.begin, 0, size);
  const std::int64_t end = std::clamp<std::int64_t>(bytes.end, begin, size);
  return {place.storage, {place.bytes.begin + begin, place.bytes.begin + end}, {}};
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

}  // namespace lowtide::verify_internal
