// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/assemble.h"
#include "lowtide/plan/plan.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide::pipeline_internal {

struct PlaceInput : PlanParts {  // NOLINT(cppcoreguidelines-pro-type-member-init): the base has only references
  const AliasOptions& aliases;
  std::int64_t effort = 0;                  // of allocate
  bool may_reorder = false;                 // orders of the same load will do
  const std::atomic<bool>* stop = nullptr;  // ends the search with the best plan so far; nullptr: nothing does
};

struct PlacedSchedule {
  Schedule schedule;     // aliases and load are those of the plan
  Plan plan;             // without provenance and claims
  std::string strategy;  // of allocate, in the first region of kWorker
};

// The plan of an order, with offsets. Errors: those of allocate_regions.
[[nodiscard]] Result<PlacedSchedule> place_schedule(const PlaceInput& input, const Schedule& schedule);

// If the offsets of a plan need more than its load, places other plans too, and keeps the one with the smallest arena,
// the first among equals:
//   - whole buffers: the parts of a buffer, which cannot move apart, may be in each other's way;
//   - the other orders that were measured (`runners_up`), if their load is below the arena so far;
//   - kOtherOrders orders of the same load, if they may be (PlaceInput::may_reorder), or fewer where the search misses
//     that load again and again;
//   - of the slices, splits and concats that can copy with the load as it is every sixteenth, eighth ... or all do;
//   - single ones that copy, at most kMostCopies, where the load stays below the arena so far;
//   - these copies with the other measured orders, in graphs of at most 2,000 nodes.
// Where several regions hold the plan, none: then the arenas' sum is not what counts. And only until the graphs of all
// tries together have kMostNodesTried nodes.
// Errors: those of allocate_regions. O((nodes + edges) log nodes) for each, and a share of the effort.
[[nodiscard]] Result<PlacedSchedule> refine_placement(const PlaceInput& input, PlacedSchedule first,
                                                      std::vector<Schedule> runners_up);

inline constexpr int kOtherOrders = 12;
inline constexpr std::size_t kMostCopies = 24;
inline constexpr std::size_t kMostNodesTried = 600'000;

}  // namespace lowtide::pipeline_internal
