// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <vector>

#include "lowtide/baselines/sharing_rules.h"
#include "lowtide/baselines/slots_by_size.h"

namespace lowtide::baselines_internal {

IdVector<PackingId, std::uint32_t> nearest_size_slots(const PackingProblem& problem, std::int64_t* work) {
  std::vector<PackingId> by_end;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) by_end.push_back(id);
  std::stable_sort(by_end.begin(), by_end.end(), [&](PackingId a, PackingId b) {
    return problem.buffers[a].lifespan.end < problem.buffers[b].lifespan.end;
  });
  SlotsBySize slots;
  IdVector<PackingId, std::uint32_t> slot_of(problem.buffers.size());
  for (PackingId id : by_end) {
    const PackingBuffer& buffer = problem.buffers[id];
    const std::int64_t size = buffer.size.count();
    const std::optional<std::uint32_t> found = slots.nearest(size, buffer.lifespan.begin);
    if (found) {
      slots.change(*found, std::max(slots.size(*found), size), buffer.lifespan.end);
      slot_of[id] = *found;
    } else {
      slot_of[id] = slots.add(size, buffer.lifespan.end);
    }
  }
  if (work != nullptr) *work = slots.visited();
  return slot_of;
}

}  // namespace lowtide::baselines_internal
