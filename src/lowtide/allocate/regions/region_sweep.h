// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/regions/region_bound.h"
#include "lowtide/allocate/regions/region_model.h"
#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {

// The cheapest choice whose loads fit every clique, exactly, by a sweep over the cliques: what matters of everything
// before a clique is only where those lie that live on. So of all choices that agree in these the cheapest is kept, and
// a state is dropped when the bound, or what it costs so far with the least of the rest, says that it cannot end below
// what is known. (Dynamic programming over a path decomposition, the cliques; Bodlaender, 1988.) Fast where few live at
// once, as in most networks; exponential in their number where the bound does not help.
//
// Nothing below that cost has offsets either, so it is a bound, and usually a better one than that of prices: it knows
// that buffers are whole.
class RegionSweep {
 public:
  // References must outlive it. `bounds`: one a level.
  RegionSweep(const RegionModel& model, std::span<const RegionBound> bounds);

  // The cheapest choice below `below` (nothing: of all). False: it takes more work, or room, than allowed.
  bool run(const std::optional<LevelCost>& below, std::int64_t work, Effort& effort);

  // After run() said true: a region of each item; empty if there is no choice (below `below`).
  [[nodiscard]] const std::vector<std::uint8_t>& best() const { return best_; }

 private:
  static constexpr std::uint32_t kNoHistory = ~std::uint32_t{0};

  using Key = std::array<std::uint64_t, 4>;  // where those lie that live on: some bits each
  struct State {
    Key key = {};
    std::uint32_t history = kNoHistory;
    LevelCost cost;
    std::vector<Int128> extra;       // by level, as RegionBound::extra
    std::vector<std::int64_t> load;  // by region, in the present clique
  };
  struct Decision {
    std::uint32_t before;
    std::uint32_t item;
    std::uint8_t region;
  };
  struct Living {
    std::size_t item;
    std::size_t slot;
  };

  [[nodiscard]] LevelCost least_of(std::size_t item) const;  // by level, where it costs least
  [[nodiscard]] bool is_below(const State& state, const LevelCost& below) const;
  [[nodiscard]] std::uint8_t region_in(const Key& key, std::size_t slot) const;
  void set_region(Key& key, std::size_t slot, std::uint64_t region) const;
  void assign_unconstrained(State& state);
  void drop_ended(std::uint32_t clique);
  void enter_clique(std::uint32_t clique);
  bool add_item(std::size_t item, std::uint32_t clique, const std::optional<LevelCost>& below);
  [[nodiscard]] std::int64_t bytes_in(std::size_t item, std::size_t region, std::uint32_t clique) const;
  void trace(const State& last);

  const RegionModel& model_;
  std::span<const RegionBound> bounds_;
  std::size_t bits_ = 1;                         // of a slot in a key
  std::vector<std::uint32_t> last_clique_;       // of each item: behind its last clique
  std::vector<std::vector<std::size_t>> begin_;  // items by first clique
  std::vector<Living> living_;
  std::vector<std::size_t> free_slots_;
  std::vector<State> states_;
  LevelCost least_of_rest_;  // of the items that are not in the states yet, each by itself
  std::vector<Decision> history_;
  std::vector<std::uint8_t> best_;
  std::int64_t spent_ = 0;
};

}  // namespace lowtide::allocate_internal
