// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/placements.h"

#include <algorithm>
#include <utility>

namespace lowtide::allocate_internal {

Placements placements_at(const CompressedProblem& problem, IdVector<PackingId, std::int64_t> offsets) {
  Placements out{.offsets = std::move(offsets)};
  for (PackingId id : all_ids<PackingId>(out.offsets.size())) {
    out.height = std::max(out.height, out.offsets[id] + problem.buffers[id].size);
  }
  return out;
}

Placements placements_of(const CompressedProblem& problem, const IdVector<PackingId, AddressRange>& ranges) {
  IdVector<PackingId, std::int64_t> offsets = problem.least_offsets();
  for (PackingId id : all_ids<PackingId>(offsets.size())) {
    if (!ranges[id].empty()) offsets[id] = ranges[id].begin;
  }
  return placements_at(problem, std::move(offsets));
}

}  // namespace lowtide::allocate_internal
