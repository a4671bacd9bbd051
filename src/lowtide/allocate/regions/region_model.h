// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/allocate/problem/groups.h"
#include "lowtide/base/int128.h"
#include "lowtide/base/interval.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/result.h"
#include "lowtide/plan/region_packing.h"

namespace lowtide::allocate_internal {

// A clique of costs as RegionCost, without its allocation; the levels behind those of the problem are 0.
struct LevelCost {
  static constexpr std::size_t kMostLevels = limits::kMaxRegions - 1;
  std::array<std::int64_t, kMostLevels> level = {};

  LevelCost& operator+=(const LevelCost& other) {
    for (std::size_t at = 0; at < kMostLevels; ++at) level[at] += other.level[at];
    return *this;
  }
  LevelCost& operator-=(const LevelCost& other) {
    for (std::size_t at = 0; at < kMostLevels; ++at) level[at] -= other.level[at];
    return *this;
  }
  friend auto operator<=>(const LevelCost&, const LevelCost&) = default;
};

// What choosing a region for each buffer has to know.
//
// An *item* is what goes to one region as a whole: a buffer, or a group of `together`. A *clique* is a set of parts of
// items that all conflict with each other: a moment at which a largest set lives, or, where a relation replaces time, a
// clique. So the load of each region in each clique must not exceed its room. What fits every clique may still have no
// offsets; what does not has none for certain.
//
// In a region all of whose items have alignment A, sizes and the capacity count as rounded up to A: sorted by address,
// each next item starts at a multiple of A above the last one's end, so the last rounded end is at most the rounded
// capacity.
class RegionModel {
 public:
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  using CliqueSpan = Interval<std::uint32_t>;

  struct Part {
    CliqueSpan cliques;  // never empty
    std::int64_t bytes = 0;
  };

  // Require: the problem is valid (regions.cc looks at it first).
  [[nodiscard]] static Result<RegionModel> build(const RegionProblem& problem);

  [[nodiscard]] std::size_t items() const { return items_.size(); }
  [[nodiscard]] std::size_t cliques() const { return cliques_; }
  [[nodiscard]] std::size_t regions() const { return problem_->regions.size(); }
  // Of the cost: one for each region except the last.
  [[nodiscard]] std::size_t levels() const { return regions() - 1; }
  [[nodiscard]] std::size_t parts() const { return parts_.size(); }

  [[nodiscard]] std::span<const Part> parts_of(std::size_t item) const {
    return {parts_.data() + items_[item].first_part, items_[item].part_count};
  }
  [[nodiscard]] std::span<const PackingId> members_of(std::size_t item) const {
    return groups_.members_of(static_cast<std::uint32_t>(item));
  }
  // Not forbidden, and it fits there alone.
  [[nodiscard]] std::uint32_t allowed(std::size_t item) const { return items_[item].allowed; }
  [[nodiscard]] bool may(std::size_t item, std::size_t region) const {
    return ((items_[item].allowed >> region) & 1U) != 0;
  }
  [[nodiscard]] std::uint32_t not_forbidden(std::size_t item) const { return items_[item].not_forbidden; }
  // The region's alignment suits all members, or could.
  [[nodiscard]] bool is_alignable(std::size_t item, std::size_t region) const {
    return ((items_[item].alignable >> region) & 1U) != 0;
  }
  [[nodiscard]] bool is_fixed(std::size_t item) const { return items_[item].is_fixed; }

  // Bytes times weights.
  [[nodiscard]] std::int64_t weighted(std::size_t item) const { return items_[item].weighted; }
  // What the item costs in the region at one level: its weighted bytes, if it lies outside the first level + 1 regions.
  [[nodiscard]] std::int64_t cost_at(std::size_t level, std::size_t item, std::size_t region) const {
    return region > level ? items_[item].weighted : 0;
  }
  [[nodiscard]] LevelCost cost(std::size_t item, std::size_t region) const;
  [[nodiscard]] RegionCost as_region_cost(const LevelCost& cost) const;

  [[nodiscard]] std::int64_t unit(std::size_t region) const { return unit_[region]; }
  [[nodiscard]] bool is_bounded(std::size_t region) const { return room_[region] != kNoLimit; }
  [[nodiscard]] std::int64_t room(std::size_t region) const { return room_[region]; }
  [[nodiscard]] std::int64_t demand(const Part& part, std::size_t region) const {
    return (part.bytes + unit_[region] - 1) & -unit_[region];
  }

  // Whether two items may take each other's place in everything.
  [[nodiscard]] bool are_interchangeable(std::size_t a, std::size_t b) const;

  // A set of items that cannot lie in the only regions that they fit in.
  [[nodiscard]] std::optional<RegionWitness> overload() const;

 private:
  struct Item {
    std::uint32_t first_part = 0;
    std::uint32_t part_count = 0;
    std::uint32_t allowed = 0;
    std::uint32_t not_forbidden = 0;
    std::uint32_t alignable = 0;
    std::int64_t weighted = 0;
    std::int64_t alignment = 1;
    bool is_fixed = false;
    bool has_pairs = false;
  };

  RegionModel(const RegionProblem& problem, BufferGroups groups) : problem_(&problem), groups_(std::move(groups)) {}
  void set_items();
  void set_allowed(std::size_t item);
  [[nodiscard]] std::optional<std::int64_t> lowest_base(std::size_t item, std::int64_t alignment) const;
  void set_cliques();
  void set_units();
  [[nodiscard]] std::optional<RegionWitness> overload_of(std::uint32_t regions) const;

  const RegionProblem* problem_;
  BufferGroups groups_;
  std::vector<Item> items_;
  std::vector<Part> parts_;
  std::size_t cliques_ = 0;
  std::vector<std::int64_t> clique_times_;  // a moment of each clique; empty where a relation replaces time
  std::vector<std::int64_t> unit_;
  std::vector<std::int64_t> room_;
};

}  // namespace lowtide::allocate_internal
