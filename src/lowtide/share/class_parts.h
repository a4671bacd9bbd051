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

// The parts of a buffer that tensors share: each unit of the alignment lives from the first write to the last use of
// all tensors that have a byte in it; neighbours that live alike are one part. None if all lives alike. A tensor
// without bytes counts as one byte: its buffer lives while it is used.
// Require: the covers leave no unit out, and lie in the buffer of `size` > 0 bytes. O(covers log covers).
[[nodiscard]] std::vector<BufferPart> class_parts(const std::vector<Cover>& covers, Bytes size, Bytes alignment);

}  // namespace lowtide::share_internal
