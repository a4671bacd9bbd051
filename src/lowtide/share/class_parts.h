// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/interval.h"
#include "lowtide/plan/plan.h"

namespace lowtide::share_internal {

// A tensor in a buffer: which bytes it has, and when it is needed.
struct Cover {
  Interval<std::int64_t> bytes;  // within the buffer
  Lifespan lifespan;             // not empty
};

// Returns the parts of a buffer that tensors share. Each unit of the alignment is live from the first write to the last
// use of all tensors that have a byte in it. Neighbouring units with equal lifespans are one part. Empty if all units
// have one lifespan. A tensor without bytes counts as one byte, because its buffer is live while it is used.
// Requires: the covers leave no unit out and are within the buffer of `size` > 0 bytes. O(covers log covers).
[[nodiscard]] std::vector<BufferPart> class_parts(const std::vector<Cover>& covers, Bytes size, Bytes alignment);

}  // namespace lowtide::share_internal
