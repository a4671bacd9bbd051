// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/regions/region_bound.h"
#include "lowtide/allocate/regions/region_model.h"
#include "lowtide/allocate/regions/region_packer.h"

namespace lowtide::allocate_internal {

// What may cut branches off. None changes the answer.
struct RegionRules {
  bool loads = true;            // a clique above the room of a region
  bool bounds = true;           // cost so far and extra costs of the bound: not below the best
  bool interchangeable = true;  // of items alike in everything, the first lies cheapest
  bool refuted = true;          // a set that was proven not to fit a region never goes there together again
  bool shrink = true;           // such a set is reduced to a minimal one
};

// Exact: every item to every region, depth first, where the bound has most to say first, and asks `allocate` whether
// what a region got has offsets. It says no to few sets, so these are remembered, cut down, and jumped back over. No
// recursion; memory O(items x regions + cliques x regions) and the sets.
class RegionSearch {
 public:
  // References must outlive it. `bounds`: one a level.
  RegionSearch(const RegionModel& model, std::span<const RegionBound> bounds, RegionPacker& packer, Effort& effort,
               const RegionRules& rules);

  // From the start, for a choice that costs less than `best` (nothing: for any), until about `work` is spent; each
  // question to `allocate` may cost `pack_limit`. A better one replaces `best`. True: all was tried, so there is none
  // below `best`, or none at all.
  bool run(std::int64_t work, std::int64_t pack_limit);

  void set_best(const LevelCost& cost) { best_cost_ = cost; }
  // The best that this search found; empty if none.
  [[nodiscard]] const std::vector<std::uint8_t>& best() const { return best_; }
  [[nodiscard]] std::int64_t decisions() const { return decisions_; }

 private:
  struct Level {
    std::size_t item = 0;
    std::vector<std::uint8_t> options;   // regions, the cheapest by the bound first
    std::vector<Int128> extras;          // by region and level of the cost
    std::optional<std::size_t> earlier;  // the level of an interchangeable item before it
    std::size_t next = 0;
  };
  // Items that do not fit a region together.
  struct Refuted {
    std::uint8_t region = 0;
    std::vector<std::size_t> depths;  // ascending
    std::size_t present = 0;
    bool is_proven = true;
  };

  void order_items(std::span<const RegionBound> bounds);
  void join_interchangeable();
  void reset();
  bool push(std::size_t depth, std::uint8_t region);
  void pop(std::size_t depth);
  bool add_loads(std::size_t depth, std::uint8_t region, int sign);
  bool count_refuted(std::size_t depth, std::uint8_t region, int sign);
  [[nodiscard]] bool is_below_best() const;
  [[nodiscard]] bool breaks_symmetry(std::size_t depth, std::uint8_t region) const;
  std::optional<std::size_t> visit_leaf(std::int64_t pack_limit);
  std::size_t refute(std::uint8_t region, std::vector<std::size_t> depths, bool is_proven, std::int64_t pack_limit);
  void index_refuted(std::size_t at);

  const RegionModel& model_;
  std::span<const RegionBound> bounds_;
  RegionPacker& packer_;
  Effort& effort_;
  RegionRules rules_;
  std::vector<Level> levels_;
  std::vector<std::vector<std::int64_t>> loads_;  // by region, clique
  std::vector<std::uint8_t> region_;              // by depth
  std::vector<Int128> extra_;                     // by level of the cost, of what is decided
  LevelCost cost_;                                // of what is decided
  std::vector<Refuted> refuted_;
  std::vector<std::vector<std::size_t>> refuted_of_;  // by depth and region
  std::optional<LevelCost> best_cost_;
  std::vector<std::uint8_t> best_;
  bool is_exact_ = true;
  std::int64_t decisions_ = 0;
};

}  // namespace lowtide::allocate_internal
