// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// Calls visit(span) for each active span of a buffer, in order. These are what its gaps leave of its lifespan.
template <typename Visit>
void for_each_active_span(const PackingBuffer& buffer, Visit&& visit) {
  std::int64_t from = buffer.lifespan.begin;
  for (const TimeSpan& gap : buffer.gaps) {
    if (gap.empty()) continue;
    if (from < gap.begin) visit(TimeSpan{from, gap.begin});
    from = gap.end;
  }
  if (from < buffer.lifespan.end) visit(TimeSpan{from, buffer.lifespan.end});
}

}  // namespace lowtide::allocate_internal
