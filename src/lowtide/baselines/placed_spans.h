// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/plan/packing.h"

namespace lowtide::baselines_internal {

// Those of a problem's buffers that were marked, by lifespan. Lists the ones that live at one time with a given buffer
// without looking at the others: a tree over all buffers, sorted by begin, of which each node knows the latest end of a
// marked one below it. Marking takes O(log n), listing O((found + 1) log n). Buffers with an empty lifespan are never
// found and find none.
class PlacedSpans {
 public:
  explicit PlacedSpans(const IdVector<PackingId, PackingBuffer>& buffers);

  void mark(PackingId id);

  // Replaces `found` by those marked that live at one time with buffer `id`, by begin.
  void list_meeting(PackingId id, std::vector<PackingId>& found);

 private:
  const IdVector<PackingId, PackingBuffer>& buffers_;
  std::vector<PackingId> by_begin_;
  IdVector<PackingId, std::size_t> rank_;  // in by_begin_
  std::size_t leaves_;                     // a power of two
  std::vector<std::int64_t> latest_;       // by node: the root is 1, the children of n are 2n and 2n + 1
  std::vector<std::size_t> path_;
};

}  // namespace lowtide::baselines_internal
