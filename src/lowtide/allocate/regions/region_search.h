// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/regions/region_bound.h"
#include "lowtide/allocate/regions/region_model.h"
#include "lowtide/allocate/regions/region_packer.h"
#include "lowtide/base/int128.h"

namespace lowtide::allocate_internal {

// Rules that cut branches off. Tests switch them off in all combinations, to show that no rule changes an answer and
// that each rule saves decisions.
struct RegionRules {
  bool loads = true;            // no clique may exceed the capacity of its region
  bool bounds = true;           // the bound with what is decided must be below the best cost
  bool interchangeable = true;  // of interchangeable groups, the first one is in the cheapest region
  bool nogoods = true;          // a set that does not fit a region is not tried there again
  bool minimize = true;         // a nogood is reduced to a minimal set
};

// Exact search by branch and bound. It assigns a region to one group after another, depth first. The groups whose
// second best region raises the bound most come first. At each complete choice it asks `allocate` for the offsets of
// each region. Few sets are refuted, so each of them is minimized: it loses the groups that the refutation does not
// need. The rest is stored as a nogood and used for backjumping. It does not recurse. Memory: O((groups + cliques) x
// regions), and the nogoods.
class RegionSearch {
 public:
  // All references must outlive the search.
  RegionSearch(const RegionModel& model, const IdVector<LevelId, RegionBound>& bounds, RegionPacker& packer,
               Effort& effort, const RegionRules& rules);

  // Searches from the start for choices that cost less than the best cost so far, until about `work` is spent. Each
  // packing may cost `pack_limit`. Returns true if all possibilities were tried.
  bool run(std::int64_t work, std::int64_t pack_limit);

  // A cost that is known to be reached. Without one, any cost is searched for.
  void set_best(const LevelCost& cost) { best_cost_ = cost; }
  // The best choice of the last run. nullopt if it found none.
  [[nodiscard]] const std::optional<IdVector<GroupId, RegionId>>& best() const { return best_; }
  [[nodiscard]] std::int64_t decisions() const { return decisions_; }

 private:
  // Groups are decided in the order of their depths.
  using Depth = Id<struct SearchDepthTag>;
  using NogoodId = Id<struct RegionNogoodTag>;
  using Extras = IdVector<LevelId, Int128>;
  struct Decision {
    GroupId group;
    std::vector<RegionId> options;      // the cheapest by the bound first
    IdVector<RegionId, Extras> extras;  // RegionBound::extra
    std::optional<Depth> earlier;       // an interchangeable group that is decided before
    std::size_t next_option = 0;
  };
  struct Nogood {
    RegionId region;
    std::vector<Depth> depths;  // ascending
    std::size_t present = 0;    // how many of them are in the region now
    bool is_proven = true;
  };

  void order_groups(const IdVector<LevelId, RegionBound>& bounds);
  void join_interchangeable();
  void reset();
  bool push(Depth depth, RegionId region);
  void pop(Depth depth);
  bool add_loads(Depth depth, RegionId region, int sign);
  bool count_nogoods(Depth depth, RegionId region, int sign);
  [[nodiscard]] bool is_below_best() const;
  [[nodiscard]] bool breaks_symmetry(Depth depth, RegionId region) const;
  std::optional<Depth> visit_leaf(std::int64_t pack_limit);
  [[nodiscard]] std::vector<GroupId> groups_at(const std::vector<Depth>& depths) const;
  void minimize(RegionId region, std::vector<Depth>& depths, std::int64_t pack_limit);
  void store(Nogood nogood);
  void index_nogood(NogoodId id);

  const RegionModel& model_;
  const IdVector<LevelId, RegionBound>& bounds_;
  RegionPacker& packer_;
  Effort& effort_;
  RegionRules rules_;
  IdVector<Depth, Decision> decisions_by_depth_;
  IdVector<RegionId, IdVector<CliqueId, std::int64_t>> loads_;
  IdVector<Depth, RegionId> region_;
  Extras extra_;    // of what is decided
  LevelCost cost_;  // of what is decided
  std::vector<Nogood> nogoods_;
  IdVector<Depth, IdVector<RegionId, std::vector<NogoodId>>> nogoods_of_;
  std::optional<LevelCost> best_cost_;
  std::optional<IdVector<GroupId, RegionId>> best_;
  bool is_exact_ = true;  // every set that was refuted is proven not to fit
  std::int64_t decisions_ = 0;
};

}  // namespace lowtide::allocate_internal
