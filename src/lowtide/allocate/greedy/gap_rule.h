// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/allocate/problem/placements.h"

namespace lowtide::allocate_internal {

// Which of the free stretches between blocks a buffer goes to.
enum class GapRule : std::uint8_t {
  lowest,    // first fit
  tightest,  // best fit: the one that it fills best; above all blocks only if it fits between none
};

// An aligned offset where `size` bytes meet none of the `taken` ranges. Sorts `taken`; ranges may overlap each other.
// The stretch below the lowest range is a stretch like the others:
//
//      tightest ->  | 4 |      free [ 8, 12): a buffer of 3 goes to 8 (wastes 1) by `tightest`,
//                  =====
//      lowest   ->  | 5 |      free [ 0,  5): and to 0 (wastes 2) by `lowest`
//
// Require: size > 0, and no sum of a range's end, size and alignment exceeds 2^63 - 1 (validate.h sees to that).
[[nodiscard]] std::int64_t choose_offset(std::vector<AddressRange>& taken, std::int64_t size, std::int64_t alignment,
                                         GapRule rule);

}  // namespace lowtide::allocate_internal
