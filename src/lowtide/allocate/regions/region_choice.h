// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/regions/region_bound.h"
#include "lowtide/allocate/regions/region_model.h"
#include "lowtide/base/range_max.h"

namespace lowtide::allocate_internal {

// A region for each group, or none yet, with the loads of the regions that have capacities.
class RegionChoice {
 public:
  // Without any region yet. `model` must outlive it.
  explicit RegionChoice(const RegionModel& model);
  RegionChoice(const RegionModel& model, const IdVector<GroupId, RegionId>& regions);

  // Whether the loads of the region stay within its capacity with this group too, if they are within it now. It is not
  // const because it adds the group for a moment.
  [[nodiscard]] bool fits(GroupId group, RegionId region);
  void put(GroupId group, RegionId region);  // Requires: it has no region.
  void take(GroupId group);                  // Requires: it has a region.

  [[nodiscard]] std::optional<RegionId> region_of(GroupId group) const { return region_[group]; }
  [[nodiscard]] bool is_in(GroupId group, RegionId region) const { return region_[group] == region; }
  [[nodiscard]] const IdVector<GroupId, std::optional<RegionId>>& regions() const { return region_; }
  // Requires: unassigned() == 0.
  [[nodiscard]] IdVector<GroupId, RegionId> complete() const;
  [[nodiscard]] const LevelCost& cost() const { return cost_; }
  [[nodiscard]] std::size_t unassigned() const { return unassigned_; }

  // A clique of the group in which its region is above its capacity, if there is one.
  [[nodiscard]] std::optional<CliqueId> overloaded_clique(GroupId group) const;

 private:
  void add(GroupId group, RegionId region, int sign);

  const RegionModel* model_;
  IdVector<GroupId, std::optional<RegionId>> region_;
  std::vector<RangeMax> loads_;  // by region: the bytes in each clique; a single element for regions without a capacity
  LevelCost cost_;
  std::size_t unassigned_;
};

// What a region should keep first.
enum class KeepRule : std::uint8_t {
  use,        // the groups that save the most weighted bytes per byte and clique
  crowd_use,  // the same, but counts only the cliques in which not all groups fit
  price,      // the groups that save the most by the prices of the bound
  size,       // the largest; that saves nothing by itself, but finds a region for all groups more often
};
[[nodiscard]] std::string_view name_of(KeepRule rule);

// Fills the regions from the cheapest to the costliest. Each keeps what its loads allow of the groups that are left.
// Groups that no later region allows come first, the others by the rule. O((groups + demands) log cliques) per region.
[[nodiscard]] RegionChoice choose_greedily(const RegionModel& model, const IdVector<LevelId, RegionBound>& bounds,
                                           KeepRule rule);

// The groups that the region allows and that are in a costlier region or in none. Those that save the most weighted
// bytes per byte and clique come first.
[[nodiscard]] std::vector<GroupId> promotable(const RegionModel& model, const RegionChoice& choice, RegionId region);

// Improves a choice by moves. A group that could be in a cheaper region goes there. Groups in its way leave, those that
// lose least first. The move is kept if the whole becomes cheaper, or if a group without a region gets one, and if
// `is_possible`, which is called with the groups that have moved, returns true. Ends if a pass over all groups finds
// nothing, or if the effort ends. Does nothing if the lists of groups in each clique would be too large.
// Returns true if the choice has changed.
[[nodiscard]] bool improve_by_moves(const RegionModel& model, RegionChoice& choice, Effort& effort,
                                    const std::function<bool(std::span<const GroupId> moved)>& is_possible);

}  // namespace lowtide::allocate_internal
