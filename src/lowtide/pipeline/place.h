// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"
#include "lowtide/plan/plan.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide::detail {

// What placing came to.
struct Placed {
  std::string strategy;  // of allocate, in the first region of kWorker
};

// Gives every buffer that takes room a region and an offset, and fills plan.layout.arena: a packing over the regions that
// kWorker can address (region_packing.h) in order of preference, in which a buffer weighs as much as it has accesses.
// Where that does not fit, the last of them takes what is left, so only it may end above its capacity. `aliases` are
// those the plan was assembled from. Every offset is a multiple of `options.alignment` and of its region's. `conflicts`,
// if there are any, replace lifespans: pairs of parts, counted through the buffers that take room in ascending id (one
// without parts is one).
[[nodiscard]] Result<Placed> place(Plan& plan, const AliasClasses& aliases, const AliasOptions& options,
                                   std::int64_t effort,
                                   std::optional<std::vector<PackingPair>> conflicts = std::nullopt);

// The last region that kWorker can address: the only one that a plan may overfill.
[[nodiscard]] RegionId last_region(const Machine& machine);

// By how much a plan overfills it.
[[nodiscard]] Bytes overflow(const Plan& plan);

}  // namespace lowtide::detail
