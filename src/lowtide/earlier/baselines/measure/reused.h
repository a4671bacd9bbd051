// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/earlier/baselines/measure/measure.h"

namespace lowtide::baselines_internal {

// How many blobs have memory that an earlier one had. Of a block that is shared as a whole, all but its first blob.
// With offsets, the blobs that have a byte of an earlier one, in the order of their first uses; blobs without bytes do
// not count. O(n log n).
[[nodiscard]] std::int64_t count_reused(const BlobNet& net, const Decision& decision);

}  // namespace lowtide::baselines_internal
