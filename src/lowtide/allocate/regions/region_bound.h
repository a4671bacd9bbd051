// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lowtide/allocate/regions/region_model.h"

namespace lowtide::allocate_internal {

// A lower bound of one level of the cost, by Lagrange's multipliers: each byte that lies in clique t of region r pays a
// price p[r][t] >= 0 besides its cost, and what the room of the clique would bring at that price is given back. Without
// the limits each item then goes where it is cheapest, and no packing within the limits costs less than
//
//     sum over items of min over regions (cost + bytes x prices of its cliques)  -  sum over cliques of room x price.
//
// With the best prices this is as strong as the linear relaxation (Geoffrion, "Lagrangean relaxation for integer
// programming", 1974): it counts what lies above the room of one clique, of cliques with no item in common, and of
// cliques that share items, each item once. Prices are integers (fixed point), sums exact in 128 bits: no rounding can
// make it wrong.
class RegionBound {
 public:
  // `model` must outlive it. All prices are 0: the bound is the cost of all items in their cheapest region.
  RegionBound(const RegionModel& model, std::size_t level);

  // Looks for better prices. First clique by clique, the fullest first: each gets the price at which it is just not
  // overloaded, the best for this clique alone; cliques that no item joins at once. Then along subgradients, with steps
  // towards `target`, a cost known to be reached (Polyak, 1969). O(work) parts and cliques looked at; returns how many.
  // The bound never falls.
  std::int64_t raise(std::int64_t target, std::int64_t work);

  [[nodiscard]] std::int64_t bound() const { return to_cost(best_.value); }

  // What an item costs more in this region than where it costs least, prices included; a choice for all items costs at
  // least `value() + the sum of these`.
  [[nodiscard]] std::int64_t bound_with(Int128 extra) const { return to_cost(best_.value + extra); }
  [[nodiscard]] Int128 extra(std::size_t item, std::size_t region) const;

  // With the prices of the bound: cost at this level and prices, as a number for orders only.
  [[nodiscard]] double price(std::size_t item, std::size_t region) const;

 private:
  using Prices = std::vector<std::vector<std::int64_t>>;  // by region (empty without a limit), clique

  // Each item in the region where it costs least.
  struct Choice {
    Int128 value = 0;
    std::vector<std::uint8_t> region;  // of each item
    Prices load;                       // bytes in each clique
  };
  struct Best {
    Int128 value = 0;
    Prices prices;
    Prices sums;  // of the prices before each clique
  };
  struct RegionClique {
    std::size_t region = 0;
    std::uint32_t clique = 0;
  };

  [[nodiscard]] Int128 value_of(std::size_t item, std::size_t region, const Prices& sums) const;
  [[nodiscard]] Prices sums_of(const Prices& prices) const;
  [[nodiscard]] Choice choose(const Prices& prices, const Prices& sums) const;
  void set_joined();
  [[nodiscard]] std::vector<RegionClique> separate_cliques(const Choice& choice, const Prices& settled) const;
  [[nodiscard]] std::vector<std::vector<std::size_t>> items_of(std::span<const RegionClique> cliques) const;
  [[nodiscard]] std::int64_t best_price(const Prices& prices, const Prices& sums, RegionClique clique,
                                        std::span<const std::size_t> items) const;
  std::int64_t price_cliques(std::int64_t target, std::int64_t work);
  std::int64_t follow_subgradients(std::int64_t target, std::int64_t work);
  bool step(Prices& prices, const Choice& choice, Int128 distance) const;
  void offer(const Choice& choice, const Prices& prices, const Prices& sums);
  [[nodiscard]] std::int64_t to_cost(Int128 value) const;
  [[nodiscard]] std::int64_t round_work() const;

  const RegionModel& model_;
  std::size_t level_;
  int shift_ = 0;                                // of the fixed point: a cost of 1 is 2^shift
  std::vector<RegionModel::CliqueSpan> joined_;  // of each clique: the cliques that an item joins with it, at most
  Best best_;
};

}  // namespace lowtide::allocate_internal
