// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/base/interval.h"

namespace lowtide::allocate_internal {

// Bytes [begin, end) of the arena. The range of a buffer that has no offset yet is empty.
using AddressRange = Interval<std::int64_t>;

// An offset for each buffer, and the highest end of a buffer.
struct Placements {
  IdVector<PackingId, std::int64_t> offsets;
  std::int64_t height = 0;
};

// The placements with these offsets, one per buffer.
[[nodiscard]] Placements placements_at(const CompressedProblem& problem, IdVector<PackingId, std::int64_t> offsets);

// The offsets at which the ranges begin. A buffer without a range is in no conflict. It gets its fixed offset, or 0.
[[nodiscard]] Placements placements_of(const CompressedProblem& problem,
                                       const IdVector<PackingId, AddressRange>& ranges);

}  // namespace lowtide::allocate_internal
