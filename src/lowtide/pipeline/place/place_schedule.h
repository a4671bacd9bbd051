// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/place/assemble.h"
#include "lowtide/pipeline/task/task.h"
#include "lowtide/plan/plan.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide::pipeline_internal {

struct PlaceInput : PlanParts {  // NOLINT(cppcoreguidelines-pro-type-member-init): the base has only references
  const AliasOptions& aliases;
  std::int64_t effort = 0;                  // of allocate
  bool may_reorder = false;                 // whether plans of other orders may be returned
  const std::atomic<bool>* stop = nullptr;  // when set, ends the search with the best plan so far; nullptr: never
};

[[nodiscard]] PlaceInput place_input(const Task& task, const PlanParts& parts);

struct PlacedSchedule {
  Schedule schedule;                  // aliases and load are those of the plan
  Plan plan;                          // without provenance and claims
  std::string strategy;               // of allocate, in the first region of kWorker
  bool has_finest_alignment = false;  // sizes are rounded up as by with_finest_alignment (other_sharing.h)
};

// Returns the plan of an order, with offsets. If it does not fit, and another region has a finer alignment than the
// first, sizes are rounded up to that alignment only (with_finest_alignment). Errors: those of allocate_regions.
[[nodiscard]] Result<PlacedSchedule> place_schedule(const PlaceInput& input, const Schedule& schedule);

// Tries other plans if the arena of `first` exceeds its load. Returns the plan with the smallest arena, the first of
// equals. Tries these plans:
//   1. Buffers without parts, because the parts of a buffer have fixed distances and may leave free ranges.
//   2. Concats that copy all of their operands or none, if some concat of `first` copies only some of them.
//   3. The other orders that were measured (`runners_up`).
//   4. Up to kOtherOrders further orders of the same load. This step ends after three failed searches in a row.
//   5. Slices, splits and concats that copy instead of sharing bytes. Only those that can copy without raising the load
//      are candidates. Every sixteenth candidate copies, then every eighth, and so on, until all of them do.
//   6. At most kMostCopies single slices, splits and concats that copy. They are added one by one, and those that lower
//      the arena are kept.
//   7. Steps 5 and 6 for `runners_up`, in graphs of at most 2,000 nodes.
// A plan gets offsets only if its load is below the smallest arena so far. Steps 3, 4 and 7 require may_reorder.
// Nothing is tried if the target has several regions and `first` fits, because the sum of their arenas need not be
// small. The search ends when the arena equals the load, or when the tries have visited kMostNodesTried nodes in total.
// Errors: those of allocate_regions. O((nodes + edges) log nodes) per plan, and a hundredth of the effort for its
// offsets.
[[nodiscard]] Result<PlacedSchedule> refine_placement(const PlaceInput& input, PlacedSchedule first,
                                                      std::vector<Schedule> runners_up);

inline constexpr int kOtherOrders = 12;
inline constexpr std::size_t kMostCopies = 24;
inline constexpr std::size_t kMostNodesTried = 600'000;

}  // namespace lowtide::pipeline_internal
