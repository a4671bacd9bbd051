// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/overlap_index.h"

#include <tuple>

namespace lowtide::allocate_internal {

OverlapIndex::OverlapIndex(const CompressedProblem& problem, std::span<const PackingId> members)
    : members_(members.begin(), members.end()), position_(problem.buffers.size()) {
  std::sort(members_.begin(), members_.end(), [&](PackingId a, PackingId b) {
    return std::tuple(problem.buffers[a].lifespan.begin, a) < std::tuple(problem.buffers[b].lifespan.begin, b);
  });
  begins_.reserve(members_.size());
  ends_of_members_.reserve(members_.size());
  for (PackingId member : members_) {
    position_[member] = static_cast<std::uint32_t>(begins_.size());
    begins_.push_back(problem.buffers[member].lifespan.begin);
    ends_of_members_.push_back(problem.buffers[member].lifespan.end);
  }
  std::size_t width = members_.size();
  rows_.emplace_back(width, 0);
  while (width > kFan) {
    width = (width + kFan - 1) / kFan;
    rows_.emplace_back(width, 0);
  }
}

void OverlapIndex::insert(PackingId buffer) {
  std::size_t at = position_[buffer];
  const Moment end = ends_of_members_[at];  // >= 1, because lifespans of members are not empty
  for (std::vector<Moment>& row : rows_) {
    row[at] = std::max(row[at], end);
    at /= kFan;
  }
}

}  // namespace lowtide::allocate_internal
