// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/regions/region_bound.h"
#include "lowtide/allocate/regions/region_model.h"
#include "lowtide/base/int128.h"

namespace lowtide::allocate_internal {

// Finds the cheapest of all choices whose loads fit every clique, by a sweep over the cliques. Of a choice for the
// groups before a clique, only the regions of the groups that are still live matter. So of all choices that agree in
// these, the cheapest is kept. A state is dropped if it cannot end below the best cost so far. The bound may show that,
// or its cost plus the least cost of the rest. This is dynamic programming over a path decomposition, whose bags are
// the cliques (Bodlaender, "Dynamic programming on graphs with bounded treewidth", 1988). It is fast if few groups are
// live at once, as in most networks, and exponential in their number if the bound does not help.
//
// No choice below the cost that it finds has offsets, so that cost is a bound. Usually it is better than the bound by
// prices, because it does not divide buffers.
class RegionSweep {
 public:
  // Both references must outlive the sweep.
  RegionSweep(const RegionModel& model, const IdVector<LevelId, RegionBound>& bounds);

  // Searches for the cheapest choice that costs less than `below`, or for the cheapest of all if there is no `below`.
  // Returns false if it takes more than `work`, or more memory than tuning.h allows.
  bool run(const std::optional<LevelCost>& below, std::int64_t work, Effort& effort);

  // After run() has returned true: the choice; nullopt if there is none.
  [[nodiscard]] const std::optional<IdVector<GroupId, RegionId>>& best() const { return best_; }

 private:
  using DecisionId = Id<struct SweepDecisionTag>;
  // A place in the key of a state, for the region of one live group.
  using KeySlot = Id<struct SweepKeySlotTag>;
  using Key = std::array<std::uint64_t, 4>;
  struct State {
    Key key = {};
    std::optional<DecisionId> last_decision;
    LevelCost cost;
    IdVector<LevelId, Int128> extra;        // RegionBound::extra of all decisions
    IdVector<RegionId, std::int64_t> load;  // in the present clique
  };
  struct Decision {
    std::optional<DecisionId> before;
    GroupId group;
    RegionId region;
  };
  struct LiveGroup {
    GroupId group;
    KeySlot slot;
  };

  [[nodiscard]] LevelCost least_cost(GroupId group) const;  // the least at each level
  [[nodiscard]] bool may_end_below(const State& state, const LevelCost& below) const;
  [[nodiscard]] RegionId region_in(const Key& key, KeySlot slot) const;
  void set_region(Key& key, KeySlot slot, RegionId region) const;
  void decide(State& state, GroupId group, RegionId region);
  void assign_unconstrained(State& state);
  void drop_ended(CliqueId clique);
  void enter_clique(CliqueId clique);
  bool add_group(GroupId group, CliqueId clique, const std::optional<LevelCost>& below);
  void trace(const State& last);

  const RegionModel& model_;
  const IdVector<LevelId, RegionBound>& bounds_;
  std::size_t bits_ = 1;                            // of a slot in a key
  IdVector<GroupId, std::optional<CliqueId>> end_;  // after its last clique; nullopt if it is in none
  IdVector<CliqueId, std::vector<GroupId>> begin_;  // the groups by their first clique
  std::vector<LiveGroup> live_;
  std::vector<KeySlot> free_slots_;
  std::vector<State> states_;
  LevelCost least_of_rest_;  // the least costs of the groups that are not decided yet
  IdVector<DecisionId, Decision> history_;
  std::optional<IdVector<GroupId, RegionId>> best_;
  std::int64_t spent_ = 0;
};

}  // namespace lowtide::allocate_internal
