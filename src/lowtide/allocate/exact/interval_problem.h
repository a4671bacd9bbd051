// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <vector>

#include "lowtide/allocate/problem/compressed.h"

namespace lowtide::allocate_internal {

using Clique = std::uint32_t;

// A packing problem with plain lifespans, reduced to what the exact search looks at.
//
// A clique is the set of buffers that live at some moment, if no other moment has a larger set that contains it. Such a
// moment is one at which a buffer begins, and after which an end comes before the next begin. Cliques stand in a row,
// in the order of their moments, and each buffer is an interval of that row. Offsets that are free of collisions in the
// cliques are free of collisions at every moment.
//
//   a |=====|              moments 0 1 2 3 4: b begins at 1, a ends at 2, c begins at 3
//   b   |=======|          cliques {a, b}, {b, c}: a = [0, 1), b = [0, 2), c = [1, 2)
//   c       |=====|
struct IntervalProblem {
  struct Buffer {
    Clique begin = 0;
    Clique end = 0;  // half-open, never empty
    std::int64_t size = 0;
    std::int64_t alignment = 1;
    std::int64_t padding = 0;  // of `size`, behind the bytes that are needed
    PackingId id;
  };
  Clique clique_count = 0;
  std::vector<Buffer> buffers;  // by begin, then id
  // If all buffers have the same alignment, this is it. Sizes are then rounded up to it, so that every sum of sizes is
  // a legal offset, and `alignment` of each buffer is 1. The rounded sizes of a clique may exceed a capacity by less
  // than a unit, because the padding of the topmost buffer needs no space.
  std::int64_t unit = 1;

  [[nodiscard]] std::size_t cliques() const { return clique_count; }
  [[nodiscard]] auto cliques_of(std::uint32_t buffer) const {
    return std::views::iota(buffers[buffer].begin, buffers[buffer].end);
  }
};

// Returns nullopt if a movable buffer has gaps, a buffer is fixed, or pairs are named. O((n + moments) log n).
[[nodiscard]] std::optional<IntervalProblem> interval_problem(const CompressedProblem& problem);

}  // namespace lowtide::allocate_internal
