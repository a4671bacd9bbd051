// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lowtide/allocate/problem/align.h"
#include "lowtide/allocate/problem/clique_id.h"
#include "lowtide/allocate/problem/groups.h"
#include "lowtide/allocate/regions/level_cost.h"
#include "lowtide/allocate/regions/region_set.h"
#include "lowtide/base/result.h"
#include "lowtide/plan/region_packing.h"

namespace lowtide::allocate_internal {

// The facts from which a region is chosen for each group. A buffer without a colocation is a group of its own, and a
// group goes to one region as a whole.
//
// A clique is a set of ranges of bytes of groups that all conflict with each other. It comes from a fullest moment, or
// from a clique of the relation. So in each clique, the load of a region must not exceed its capacity. If loads fit in
// every clique, there may still be no offsets. If they do not, there are none.
//
// If all groups of a region have an alignment of at least A, sizes and the capacity are rounded up to A. Sorted by
// address, each group starts at a multiple of A above the end of the one before. So the rounded end of the last one is
// at most the rounded capacity.
class RegionModel {
 public:
  // The bytes of a group in some neighbouring cliques.
  struct Demand {
    CliqueSpan cliques;  // never empty
    std::int64_t bytes = 0;
  };

  // Requires: validate_region_problem accepts the problem, which must outlive the model.
  [[nodiscard]] static Result<RegionModel> build(const RegionProblem& problem);

  [[nodiscard]] IdRange<GroupId> groups() const { return all_ids<GroupId>(facts_.size()); }
  [[nodiscard]] IdRange<CliqueId> cliques() const { return all_ids<CliqueId>(clique_count_); }
  [[nodiscard]] IdRange<RegionId> regions() const { return all_ids<RegionId>(region_count()); }
  // One level for each region except the last.
  [[nodiscard]] IdRange<LevelId> levels() const { return all_ids<LevelId>(level_count()); }
  [[nodiscard]] std::size_t group_count() const { return facts_.size(); }
  [[nodiscard]] std::size_t clique_count() const { return clique_count_; }
  [[nodiscard]] std::size_t region_count() const { return problem_->regions.size(); }
  [[nodiscard]] std::size_t level_count() const { return region_count() - 1; }
  [[nodiscard]] std::size_t demand_count() const { return demands_.size(); }

  [[nodiscard]] std::span<const Demand> demands_of(GroupId group) const {
    return {demands_.data() + facts_[group].first_demand, facts_[group].demand_count};
  }
  [[nodiscard]] std::span<const PackingId> members_of(GroupId group) const { return groups_.members_of(group); }
  // The regions that are not forbidden to the group, and that it fits into alone.
  [[nodiscard]] RegionSet allowed(GroupId group) const { return facts_[group].allowed; }
  [[nodiscard]] bool is_allowed(GroupId group, RegionId region) const { return facts_[group].allowed.has(region); }
  [[nodiscard]] RegionSet not_forbidden(GroupId group) const { return facts_[group].not_forbidden; }
  // Whether some base of the group suits the alignment of the region.
  [[nodiscard]] bool is_alignable(GroupId group, RegionId region) const { return facts_[group].alignable.has(region); }
  [[nodiscard]] bool is_fixed(GroupId group) const { return facts_[group].is_fixed; }

  // Bytes times weights.
  [[nodiscard]] std::int64_t weighted_bytes(GroupId group) const { return facts_[group].weighted_bytes; }
  // The cost of the group in the region at one level: its weighted bytes, or 0 if the level does not count the region.
  [[nodiscard]] std::int64_t cost_at(LevelId level, GroupId group, RegionId region) const {
    return region.value() > level.value() ? facts_[group].weighted_bytes : 0;
  }
  [[nodiscard]] LevelCost cost(GroupId group, RegionId region) const;
  [[nodiscard]] RegionCost as_region_cost(const LevelCost& cost) const;

  [[nodiscard]] bool is_bounded(RegionId region) const { return capacity_[region] != kNoLimit; }
  // Rounded up as far as the alignments of the groups justify.
  [[nodiscard]] std::int64_t capacity(RegionId region) const { return capacity_[region]; }
  // The bytes of a demand in the region, rounded up in the same way.
  [[nodiscard]] std::int64_t bytes_in(const Demand& demand, RegionId region) const {
    return aligned_up(demand.bytes, unit_[region]);
  }
  // The bytes of the group in one clique of the region.
  [[nodiscard]] std::int64_t bytes_in(GroupId group, RegionId region, CliqueId clique) const;

  // Whether two groups may swap their regions and offsets.
  [[nodiscard]] bool are_interchangeable(GroupId a, GroupId b) const;

  // A set of groups that do not fit the only regions that allow them, if there is one.
  [[nodiscard]] std::optional<RegionWitness> overload() const;

 private:
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

  struct GroupFacts {
    std::uint32_t first_demand = 0;
    std::uint32_t demand_count = 0;
    RegionSet allowed;
    RegionSet not_forbidden;
    RegionSet alignable;
    std::int64_t weighted_bytes = 0;
    std::int64_t alignment = 1;
    bool is_fixed = false;
    bool has_pairs = false;  // of a relation
  };

  RegionModel(const RegionProblem& problem, BufferGroups groups) : problem_(&problem), groups_(std::move(groups)) {}
  void set_facts();
  void set_allowed(GroupId group);
  [[nodiscard]] std::optional<std::int64_t> lowest_base(GroupId group, std::int64_t alignment) const;
  void set_demands();
  void set_units();
  static std::int64_t whole_units(std::int64_t bytes, std::int64_t unit);
  [[nodiscard]] std::optional<RegionWitness> overload_of(RegionSet regions) const;

  const RegionProblem* problem_;
  BufferGroups groups_;
  IdVector<GroupId, GroupFacts> facts_;
  std::vector<Demand> demands_;
  std::size_t clique_count_ = 0;
  IdVector<CliqueId, std::int64_t> clique_times_;  // a time of each clique; empty if a relation replaces time
  IdVector<RegionId, std::int64_t> unit_;
  IdVector<RegionId, std::int64_t> capacity_;  // kNoLimit if there is none
};

}  // namespace lowtide::allocate_internal
