// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/analysis/alias_classes.h"
#include "lowtide/base/result.h"
#include "lowtide/plan/plan.h"

namespace lowtide::detail {

// What placing came to.
struct Placed {
  std::string strategy;   // of allocate, in region 0
  bool is_tight = false;  // everything is in region 0, at the load
};

// Gives every buffer that takes room a region and an offset, and fills plan.regions and plan.arena.
// Everything goes to region 0 if it fits, or if there is no other. Otherwise each region in turn keeps what is used
// most often for the time it takes up (accesses per step of lifespan; the regions are in order of preference), and the
// rest goes on; the last region takes what is left, so only it may end above its capacity.
// `aliases` are those the plan was assembled from. Every offset is a multiple of `options.alignment` and of its
// region's. One packing a region.
[[nodiscard]] Result<Placed> place(Plan& plan, const AliasClasses& aliases, const std::vector<Region>& regions,
                                   const AliasOptions& options, std::int64_t effort);

}  // namespace lowtide::detail
