// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/earlier/baselines/rules/sharing_rules.h"
#include "lowtide/earlier/baselines/rules/slots_by_size.h"

namespace lowtide::baselines_internal {

IdVector<PackingId, std::uint32_t> nearest_size_slots(const PackingProblem& problem,
                                                      const std::vector<std::vector<PackingId>>& given,
                                                      std::int64_t* work) {
  std::vector<PackingId> by_end;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) by_end.push_back(id);
  std::stable_sort(by_end.begin(), by_end.end(), [&](PackingId a, PackingId b) {
    return problem.buffers[a].lifespan.end < problem.buffers[b].lifespan.end;
  });
  SlotsBySize slots;
  IdVector<PackingId, std::uint32_t> slot_of(problem.buffers.size());
  Flags<PackingId> is_given(problem.buffers.size());
  for (const std::vector<PackingId>& members : given) {
    Bytes size;
    for (PackingId id : members) size = std::max(size, problem.buffers[id].size);
    const std::uint32_t slot = slots.add(size.count(), problem.buffers[members.back()].lifespan.end);
    for (PackingId id : members) {
      is_given.set(id);
      slot_of[id] = slot;
    }
  }
  for (PackingId id : by_end) {
    if (is_given.test(id)) continue;
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
