// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/placements.h"

#include <algorithm>

namespace lowtide::allocate_internal {

Placements placements_of(const CompressedProblem& problem, const IdVector<PackingId, AddressRange>& ranges) {
  Placements out{.offsets = IdVector<PackingId, std::int64_t>(problem.buffers.size())};
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    const CompressedProblem::Buffer& buffer = problem.buffers[id];
    out.offsets[id] = ranges[id].empty() ? buffer.fixed_offset : ranges[id].begin;
    out.height = std::max(out.height, out.offsets[id] + buffer.size);
  }
  return out;
}

}  // namespace lowtide::allocate_internal
