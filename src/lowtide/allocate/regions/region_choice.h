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
  // Starts without a region for any group. `model` must outlive it.
  explicit RegionChoice(const RegionModel& model);
  RegionChoice(const RegionModel& model, const IdVector<GroupId, RegionId>& regions);

  // Whether the region permits the group, and its capacity still suffices with it. Assumes that the capacity suffices
  // now. Not const, because it adds and removes the group.
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

  // Returns a clique of the group in which the load of its region exceeds the capacity. Returns nullopt if there is
  // none.
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
  size,       // the largest groups; this ignores the savings, but finds a region for all groups more often
};
[[nodiscard]] std::string_view name_of(KeepRule rule);

// Fills the regions from the cheapest to the costliest. Each region takes the remaining groups that fit. Groups that no
// later region permits come first, and the rule orders the others. O((groups + demands) log cliques) per region.
[[nodiscard]] RegionChoice choose_greedily(const RegionModel& model, const IdVector<LevelId, RegionBound>& bounds,
                                           KeepRule rule);

// Returns the groups that the region permits and that are in a costlier region or in none. Those that save the most
// weighted bytes per byte and clique come first.
[[nodiscard]] std::vector<GroupId> promotable(const RegionModel& model, const RegionChoice& choice, RegionId region);

// Improves a choice by moves. A move puts a group into a cheaper region that permits it. Groups that block it leave
// that region, and those whose cost rises least leave first. A move is kept if it lowers the total cost, or if it gives
// a region to a group that has none. In addition, `is_possible` must return true for the groups that have moved. Ends
// if a pass over all groups keeps no move, or if the effort ends. Does nothing if the lists of groups in each clique
// would be too large. Returns true if the choice has changed.
[[nodiscard]] bool improve_by_moves(const RegionModel& model, RegionChoice& choice, Effort& effort,
                                    const std::function<bool(std::span<const GroupId> moved)>& is_possible);

}  // namespace lowtide::allocate_internal
