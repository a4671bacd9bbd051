// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "lowtide/allocate/exact/search_buffer.h"
#include "lowtide/allocate/problem/clique_id.h"
#include "lowtide/allocate/problem/compressed.h"

namespace lowtide::allocate_internal {

// A packing problem with plain lifespans, reduced to what the exact search needs.
//
// A clique is the set of buffers that are live at some moment, if no other moment has a larger set that contains it. At
// such a moment a buffer begins, and the next end comes before the next begin. Cliques are in the order of their
// moments, so the cliques of each buffer are an interval. If offsets do not collide in any clique, they do not collide
// at any moment.
//
//   a |===|                moments 0 1 2 3 4: b begins at 1, a ends at 2, c begins at 3
//   b   |=====|            cliques {a, b}, {b, c}: a = [0, 1), b = [0, 2), c = [1, 2)
//   c       |===|
struct IntervalProblem {
  struct Buffer {
    CliqueSpan cliques;  // never empty
    std::int64_t size = 0;
    std::int64_t alignment = 1;
    std::int64_t padding = 0;  // at the end of `size`, not needed by the buffer
    PackingId id;
  };
  std::uint32_t clique_count = 0;
  IdVector<SearchBuffer, Buffer> buffers;  // by first clique, then id
  // The alignment, if all buffers have the same one, otherwise 1. In the first case, sizes are rounded up to it, so
  // that every sum of sizes is a legal offset. The `alignment` of each buffer is then 1. The rounded sizes of a clique
  // may exceed a capacity by less than a unit, because the padding of the topmost buffer needs no space.
  std::int64_t unit = 1;

  [[nodiscard]] std::size_t cliques() const { return clique_count; }
  [[nodiscard]] CliquesInSpan cliques_of(SearchBuffer buffer) const { return cliques_in(buffers[buffer].cliques); }
};

// Returns nullopt if no buffer is movable, a movable buffer has gaps, a buffer is fixed, or a relation replaces time.
// O((n + moments) log n).
[[nodiscard]] std::optional<IntervalProblem> interval_problem(const CompressedProblem& problem);

}  // namespace lowtide::allocate_internal
