// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/allocate/problem/compressed.h"

namespace lowtide::allocate_internal {

// A height that no packing can undercut, and a moment that shows it.
struct HeightBound {
  std::int64_t height = 0;
  Moment witness = 0;
};

// Sizes active at each moment, summed. O((n + parts) + moments).
[[nodiscard]] std::vector<std::int64_t> load_profile(const CompressedProblem& problem);

// The largest of
//   - the load of a moment, sizes rounded as far as alignment proves (see below);
//   - the end of each fixed buffer, and the size of each other one, since no offset is below 0.
//
// How far may a size count as rounded up? Take one moment, a power of two A, and the buffers that are active there
// and whose alignment is at least A. Each starts at a multiple of A. Sorted by address, the next one starts at or after
// the end of this one, and at a multiple of A, so at or after (start of this one + its size rounded up to A). Hence the
// last one starts no lower than the sum of the other rounded sizes, and the highest end is at least
//
//     sum of rounded sizes  -  the largest padding (rounded size - size) of any of them,
//
// since we do not know which one is last: its own padding is not below anything.
//
//     A = 64                 +----+ 74        two buffers of 10 bytes: 64 + 64 - 54 = 74, not 128 and not 20
//          |padding          | 10 |
//       0  +----+ 10         +----+ 64
//
// A = the smallest alignment covers all buffers; a larger A covers fewer and rounds more, because buffers with a
// smaller alignment may lie in the padding. Every A that occurs is tried: O(levels x (n + parts) log n), levels <= 31.
[[nodiscard]] HeightBound height_bound(const CompressedProblem& problem);

}  // namespace lowtide::allocate_internal
