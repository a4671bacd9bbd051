// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "lowtide/presets/sharing_rules.h"

namespace lowtide::detail {

IdVector<PackingId, std::uint32_t> nearest_size_slots(const PackingProblem& problem) {
  struct Slot {
    std::int64_t end;
    Bytes size;
  };
  std::vector<PackingId> by_end;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) by_end.push_back(id);
  std::stable_sort(by_end.begin(), by_end.end(), [&](PackingId a, PackingId b) {
    return problem.buffers[a].lifespan.end < problem.buffers[b].lifespan.end;
  });
  std::vector<Slot> slots;
  IdVector<PackingId, std::uint32_t> slot_of(problem.buffers.size());
  for (PackingId id : by_end) {
    const PackingBuffer& buffer = problem.buffers[id];
    const auto distance = [&](std::size_t at) { return std::abs(slots[at].size.count() - buffer.size.count()); };
    std::size_t best = slots.size();
    for (std::size_t at = 0; at < slots.size(); ++at) {
      if (slots[at].end > buffer.lifespan.begin) continue;
      if (best == slots.size() || distance(at) < distance(best)) best = at;
    }
    if (best == slots.size()) slots.push_back({});
    slot_of[id] = static_cast<std::uint32_t>(best);
    slots[best] = {buffer.lifespan.end, std::max(slots[best].size, buffer.size)};
  }
  return slot_of;
}

}  // namespace lowtide::detail
