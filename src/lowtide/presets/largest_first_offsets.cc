// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <vector>

#include "lowtide/presets/sharing_rules.h"

namespace lowtide::detail {
namespace {

struct Taken {
  Offset begin;
  Offset end;
};

// Require: sorted by `begin`.
Offset smallest_gap(const std::vector<Taken>& taken, Bytes size) {
  std::optional<Bytes> best_gap;
  Offset best;
  Offset end;  // highest so far
  for (const Taken& one : taken) {
    if (one.begin > end || one.begin == end) {
      const Bytes gap = one.begin - end;
      if (gap >= size && gap > Bytes(0) && (!best_gap || gap < *best_gap)) {
        best_gap = gap;
        best = end;
      }
    }
    end = std::max(end, one.end);
  }
  return best_gap ? best : end;
}

}  // namespace

IdVector<PackingId, Offset> largest_first_offsets(const PackingProblem& problem) {
  std::vector<PackingId> by_size;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) by_size.push_back(id);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](PackingId a, PackingId b) { return problem.buffers[a].size > problem.buffers[b].size; });
  IdVector<PackingId, Offset> offsets(problem.buffers.size());
  std::vector<Taken> taken;
  for (std::size_t at = 0; at < by_size.size(); ++at) {
    const PackingBuffer& buffer = problem.buffers[by_size[at]];
    taken.clear();
    for (std::size_t before = 0; before < at; ++before) {
      const PackingBuffer& other = problem.buffers[by_size[before]];
      if (!buffer.lifespan.overlaps(other.lifespan)) continue;
      const Offset begin = offsets[by_size[before]];
      taken.push_back({begin, begin + other.size});
    }
    std::sort(taken.begin(), taken.end(), [](const Taken& a, const Taken& b) { return a.begin < b.begin; });
    offsets[by_size[at]] = smallest_gap(taken, buffer.size);
  }
  return offsets;
}

}  // namespace lowtide::detail
