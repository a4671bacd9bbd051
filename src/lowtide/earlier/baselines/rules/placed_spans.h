// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/plan/packing.h"

namespace lowtide::baselines_internal {

// The marked buffers of a packing problem, searchable by lifespan. It lists the marked buffers that are live at the
// same time as a given buffer without visiting the others. It is a tree over all buffers, sorted by the start of the
// lifespan; each node knows the latest end of a marked buffer below it. Marking takes O(log n), listing O((found +
// 1) log n). Buffers with an empty lifespan are never found and find none.
class PlacedSpans {
 public:
  explicit PlacedSpans(const IdVector<PackingId, PackingBuffer>& buffers);

  void mark(PackingId id);

  // Replaces `found` by the marked buffers that are live at the same time as buffer `id`, sorted by start.
  void list_overlapping(PackingId id, std::vector<PackingId>& found);

 private:
  const IdVector<PackingId, PackingBuffer>& buffers_;
  std::vector<PackingId> by_begin_;
  IdVector<PackingId, std::size_t> rank_;  // index in by_begin_
  std::size_t leaves_;                     // a power of two
  std::vector<std::int64_t> latest_;       // by node: the root is 1, the children of n are 2n and 2n + 1
  std::vector<std::size_t> path_;
};

}  // namespace lowtide::baselines_internal
