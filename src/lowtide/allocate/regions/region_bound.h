// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lowtide/allocate/regions/region_model.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/int128.h"

namespace lowtide::allocate_internal {

// A lower bound of one level of the cost, by Lagrange multipliers. Each byte in clique t of region r pays a price
// p[r][t] >= 0 in addition to its cost. In return, the capacity of the clique times that price is subtracted. Then
// capacities do not matter any more, and each group goes to the region that is cheapest for it. No packing within the
// capacities costs less than
//
//     sum over groups of min over regions (cost + bytes x prices of its cliques)
//       -  sum over cliques of capacity x price.
//
// With the best prices this is as strong as the linear relaxation (Geoffrion, "Lagrangean relaxation for integer
// programming", 1974). It counts the load above the capacity in one clique or in several. A group that several cliques
// share counts once. Prices are integers (fixed point) and sums are exact in 128 bits, so rounding cannot make it
// wrong.
class RegionBound {
 public:
  // `model` must outlive it. At first all prices are 0, and the bound is the cost of all groups in their cheapest
  // regions.
  RegionBound(const RegionModel& model, LevelId level);

  // Looks for better prices. First, each overloaded clique gets the price at which it is just not overloaded, which is
  // the best one for this clique alone. The most overloaded cliques come first. Cliques that no group joins get their
  // prices at the same time. Then it follows subgradients with steps towards `target`, until the bound reaches it
  // (Polyak, 1969). Examines about `work` demands and cliques, and returns how many. The bound never falls.
  std::int64_t raise(std::int64_t target, std::int64_t work);

  [[nodiscard]] std::int64_t bound() const { return to_cost(best_.value); }

  // How much more the group costs in this region than in its cheapest one, prices included. An assignment of all groups
  // costs at least bound_with(the sum of these).
  [[nodiscard]] Int128 extra(GroupId group, RegionId region) const;
  [[nodiscard]] std::int64_t bound_with(Int128 extra) const { return to_cost(best_.value + extra); }

  // The cost of the group at this level with the prices of the bound. Only for comparisons.
  [[nodiscard]] double priced_cost(GroupId group, RegionId region) const;

 private:
  // Empty for regions without a capacity.
  template <typename T>
  using ByRegionAndClique = IdVector<RegionId, IdVector<CliqueId, T>>;
  using Prices = ByRegionAndClique<std::int64_t>;

  // Each group in its cheapest region.
  struct Choice {
    Int128 value = 0;
    Prices load;  // bytes in each clique
  };
  struct Best {
    Int128 value = 0;
    Prices prices;
    Prices sums;  // of the prices before each clique
  };
  struct RegionClique {
    RegionId region;
    CliqueId clique;
  };

  [[nodiscard]] Prices zeros(std::size_t count) const;
  [[nodiscard]] Int128 value_of(GroupId group, RegionId region, const Prices& sums) const;
  [[nodiscard]] Prices sums_of(const Prices& prices) const;
  [[nodiscard]] Choice choose(const Prices& sums) const;
  void set_joined();
  [[nodiscard]] std::vector<RegionClique> separate_cliques(const Choice& choice,
                                                           const IdVector<RegionId, Flags<CliqueId>>& is_priced) const;
  [[nodiscard]] std::vector<std::vector<GroupId>> groups_of(std::span<const RegionClique> cliques) const;
  [[nodiscard]] std::int64_t best_price(const Prices& prices, const Prices& sums, RegionClique clique,
                                        std::span<const GroupId> groups) const;
  std::int64_t price_cliques(std::int64_t target, std::int64_t work);
  std::int64_t follow_subgradients(std::int64_t target, std::int64_t work);
  bool step(Prices& prices, const Choice& choice, Int128 distance) const;
  void offer(const Choice& choice, const Prices& prices, const Prices& sums);
  [[nodiscard]] std::int64_t to_cost(Int128 value) const;
  [[nodiscard]] std::int64_t round_work() const;

  const RegionModel& model_;
  LevelId level_;
  int shift_ = 0;                          // of the fixed point: a cost of 1 is 2^shift
  IdVector<CliqueId, CliqueSpan> joined_;  // of each clique: a span with all cliques that a group joins with it
  Best best_;
};

}  // namespace lowtide::allocate_internal
