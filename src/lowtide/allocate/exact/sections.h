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

using Section = std::uint32_t;

// A packing problem cut down to what the exact search looks at.
//
// A section stands for a moment at which as many buffers as possible live: one begins there, and the next thing to
// happen after all begins is an end. Every other moment's buffers are a subset of a neighbouring section's, so offsets
// that are free of collisions in the sections are so everywhere.
//
//   a |=====|              moments 0 1 2 3 4: b begins at 1, a ends at 2, c begins at 3
//   b   |=======|          sections {a, b}, {b, c}: a = [0, 1), b = [0, 2), c = [1, 2)
//   c       |=====|
struct SectionedProblem {
  struct Buffer {
    Section begin = 0;
    Section end = 0;  // half-open, never empty
    std::int64_t size = 0;
    std::int64_t alignment = 1;
    std::int64_t padding = 0;  // of `size`, behind the bytes that are needed
    PackingId id;
  };
  Section section_count = 0;
  std::vector<Buffer> buffers;  // by begin, then id
  // Where all buffers have one alignment, sizes are rounded up to it and every sum of sizes is a legal offset:
  // `alignment` of each buffer is then 1 and this is the unit. The sum of the rounded sizes of a section may exceed a
  // capacity by less than a unit: the padding of whichever lies on top needs no room.
  std::int64_t unit = 1;

  [[nodiscard]] std::size_t sections() const { return section_count; }
  [[nodiscard]] auto sections_of(std::uint32_t buffer) const {
    return std::views::iota(buffers[buffer].begin, buffers[buffer].end);
  }
};

// Returns nullopt if a movable buffer has gaps, a buffer is fixed, or pairs are named. O((n + moments) log n).
[[nodiscard]] std::optional<SectionedProblem> sectioned(const CompressedProblem& problem);

}  // namespace lowtide::allocate_internal
