// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"
#include "lowtide/plan/plan.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide::pipeline_internal {

struct OffsetOptions {
  std::int64_t effort = 0;                  // of allocate
  const std::atomic<bool>* stop = nullptr;  // when set, ends the search for lower offsets; nullptr: never
  // Replaces lifespans: pairs of parts that may not share bytes. Parts are counted through the buffers of
  // buffers_in_arena; a buffer without parts counts as one.
  std::optional<std::vector<PackingPair>> conflicts = std::nullopt;
};

// Gives each buffer of buffers_in_arena a region and an offset, and fills plan.layout.arena. This is a packing over
// the regions that kWorker addresses, in their order of preference (allocate/regions.h). The weight of a buffer is its
// number of accesses. If the buffers do not fit, the last region takes the rest, so only that one may exceed its
// capacity. Offsets are multiples of `aliases.alignment` and of the region's. Returns the strategy that packed the
// first region. `classes`: those that the plan was assembled from. Errors: those of allocate_regions.
[[nodiscard]] Result<std::string> assign_offsets(Plan& plan, const AliasClasses& classes, const AliasOptions& aliases,
                                                 OffsetOptions options);

}  // namespace lowtide::pipeline_internal
