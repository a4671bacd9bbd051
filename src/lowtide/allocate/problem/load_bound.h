// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/allocate/problem/compressed.h"

namespace lowtide::allocate_internal {

// A lower bound of the height of every packing, and a moment that proves it.
struct HeightBound {
  std::int64_t height = 0;
  Moment witness = 0;
};

// The sum of the active sizes at each moment. O(n + spans + moments).
[[nodiscard]] std::vector<std::int64_t> load_profile(const CompressedProblem& problem);

// The largest of
//   - the load of any moment, with sizes rounded up as far as alignments justify (see below);
//   - the end of each fixed buffer, and the size of each other buffer, because no offset is below 0.
//
// By how much may sizes be rounded up? Take one moment, a power of two A, and the buffers that are active then and have
// an alignment of at least A. Each of them starts at a multiple of A. In the order of their addresses, each one starts
// at or above the end of the one before, rounded up to A. So the last one starts at or above the sum of the other
// rounded sizes. The padding of the last one costs nothing, because nothing lies above it, but any of them may be the
// last one. So the highest end is at least
//
//     sum of the rounded sizes  -  largest padding (rounded size - size) of any of them.
//
//     A = 64                 +----+ 74        two buffers of 10 bytes: 64 + 64 - 54 = 74, not 128 and not 20
//          |padding          | 10 |
//       0  +----+ 10         +----+ 64
//
// The smallest alignment as A counts all buffers. A larger A counts fewer buffers, because those with a smaller
// alignment may lie in the padding, and rounds the others up further. Every alignment of the problem is tried.
// O(alignments x (n + spans) log n), with at most 31 alignments.
[[nodiscard]] HeightBound height_bound(const CompressedProblem& problem);

}  // namespace lowtide::allocate_internal
