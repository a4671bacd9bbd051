// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/rules/placed_spans.h"

#include <algorithm>
#include <bit>

namespace lowtide::baselines_internal {

PlacedSpans::PlacedSpans(const IdVector<PackingId, PackingBuffer>& buffers)
    : buffers_(buffers), rank_(buffers.size()), leaves_(std::bit_ceil(std::max<std::size_t>(buffers.size(), 1))) {
  by_begin_.reserve(buffers.size());
  for (PackingId id : all_ids<PackingId>(buffers.size())) by_begin_.push_back(id);
  std::stable_sort(by_begin_.begin(), by_begin_.end(),
                   [&](PackingId a, PackingId b) { return buffers[a].lifespan.begin < buffers[b].lifespan.begin; });
  for (std::size_t rank = 0; rank < by_begin_.size(); ++rank) rank_[by_begin_[rank]] = rank;
  latest_.assign(2 * leaves_, INT64_MIN);
}

void PlacedSpans::mark(PackingId id) {
  const TimeSpan& span = buffers_[id].lifespan;
  if (span.empty()) return;
  for (std::size_t node = leaves_ + rank_[id]; node >= 1; node /= 2) {
    latest_[node] = std::max(latest_[node], span.end);
  }
}

void PlacedSpans::list_overlapping(PackingId id, std::vector<PackingId>& found) {
  found.clear();
  const TimeSpan& span = buffers_[id].lifespan;
  if (span.empty()) return;
  path_.assign(1, 1);
  while (!path_.empty()) {
    const std::size_t node = path_.back();
    path_.pop_back();
    if (latest_[node] <= span.begin) continue;
    if (node < leaves_) {
      path_.push_back(2 * node + 1);
      path_.push_back(2 * node);
      continue;
    }
    const PackingId other = by_begin_[node - leaves_];
    if (buffers_[other].lifespan.begin >= span.end) return;  // like all that follow
    found.push_back(other);
  }
}

}  // namespace lowtide::baselines_internal
