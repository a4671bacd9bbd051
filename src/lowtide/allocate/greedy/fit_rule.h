// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/allocate/problem/placements.h"

namespace lowtide::allocate_internal {

// Which free range between other buffers is chosen for a buffer.
enum class FitRule : std::uint8_t {
  lowest,    // first fit: the free range with the lowest address
  tightest,  // best fit: the smallest free range that holds the buffer; if none does, above all ranges
};

// Returns an aligned offset at which `size` bytes overlap none of the `taken` ranges. Sorts `taken`, whose ranges may
// overlap each other. The bytes below the lowest range are a free range, too:
//
//      tightest ->  | 4 |      free [8, 12): by `tightest`, a buffer of 3 bytes goes to 8 and leaves 1 byte free
//                  =====
//      lowest   ->  | 5 |      free [0, 5):  by `lowest`, it goes to 0 and leaves 2 bytes free
//
// Requires: size > 0, and the end of every range + size + alignment is below 2^63 (validate.h ensures it).
[[nodiscard]] std::int64_t find_offset(std::vector<AddressRange>& taken, std::int64_t size, std::int64_t alignment,
                                       FitRule rule);

}  // namespace lowtide::allocate_internal
