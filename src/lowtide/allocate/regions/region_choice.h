// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/regions/region_bound.h"
#include "lowtide/allocate/regions/region_model.h"
#include "lowtide/base/range_max.h"

namespace lowtide::allocate_internal {

// A region for each item, or none yet, with the loads of the regions that have limits.
class RegionChoice {
 public:
  static constexpr std::uint8_t kNowhere = 255;

  explicit RegionChoice(const RegionModel& model);

  // The loads of the region stay within its room, if they are now. Not const only because it tries.
  [[nodiscard]] bool fits(std::size_t item, std::size_t region);
  void put(std::size_t item, std::size_t region);  // Require: it is nowhere
  void take(std::size_t item);                     // Require: it is somewhere

  [[nodiscard]] std::uint8_t region_of(std::size_t item) const { return region_[item]; }
  [[nodiscard]] const std::vector<std::uint8_t>& regions() const { return region_; }
  [[nodiscard]] const LevelCost& cost() const { return cost_; }
  [[nodiscard]] std::size_t unassigned() const { return unassigned_; }

  // The part of `item` that is in a clique above the room, and that clique.
  [[nodiscard]] bool is_overloaded(std::size_t item, std::uint32_t& clique) const;

 private:
  void add(std::size_t item, std::size_t region, int sign);

  const RegionModel* model_;
  std::vector<std::uint8_t> region_;
  std::vector<RangeMax> loads_;  // by region, the bytes in each clique; a single clique for regions without a limit
  LevelCost cost_;
  std::size_t unassigned_;
};

// What a region should hold first.
enum class KeepRule : std::uint8_t {
  use,        // the most weighted bytes saved per byte and clique
  crowd_use,  // the same, where only cliques count in which not all have room
  price,      // what the bound's prices say that it saves
  size,       // the largest: saves nothing by itself, but finds a place for all items more often
};
[[nodiscard]] std::string_view name_of(KeepRule rule);

// The cheapest region first: it keeps of what is left as much as its load allows, those first that may go nowhere else,
// then by the rule. `bounds`: one a level. O((items + parts) log cliques) a region.
[[nodiscard]] RegionChoice choose_greedily(const RegionModel& model, std::span<const RegionBound> bounds,
                                           KeepRule rule);

// Items that the region may hold, and that lie in a costlier one or in none. The most weight per byte and clique first.
[[nodiscard]] std::vector<std::size_t> promotable(const RegionModel& model, const RegionChoice& choice,
                                                  std::size_t region);

// Improves a choice: an item that could lie cheaper goes there, and who is in its way and loses least goes elsewhere,
// as long as the whole becomes cheaper (or one that is nowhere finds a region). `is_possible` has the last word on each
// move: it is told which items moved. True: something changed. Ends where a pass over all finds nothing, or the effort
// ends; does nothing where that is too little to list who is in which clique.
[[nodiscard]] bool improve_by_moves(const RegionModel& model, RegionChoice& choice, Effort& effort,
                                    const std::function<bool(std::span<const std::size_t> moved)>& is_possible);

}  // namespace lowtide::allocate_internal
