// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_sweep.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {

RegionSweep::RegionSweep(const RegionModel& model, std::span<const RegionBound> bounds)
    : model_(model), bounds_(bounds), last_clique_(model.items(), 0), begin_(model.cliques()) {
  while ((std::size_t{1} << bits_) < model.regions()) bits_ *= 2;  // no slot across two words
  for (std::size_t item = 0; item < model.items(); ++item) {
    std::uint32_t first = std::numeric_limits<std::uint32_t>::max();
    for (const RegionModel::Part& part : model.parts_of(item)) {
      first = std::min(first, part.cliques.begin);
      last_clique_[item] = std::max(last_clique_[item], part.cliques.end);
    }
    if (last_clique_[item] > 0) begin_[first].push_back(item);
  }
  // The heaviest first: what does not fit shows early.
  for (std::vector<std::size_t>& items : begin_) {
    std::stable_sort(items.begin(), items.end(),
                     [&](std::size_t a, std::size_t b) { return model.weighted(a) > model.weighted(b); });
  }
}

std::uint8_t RegionSweep::region_in(const Key& key, std::size_t slot) const {
  const std::size_t bit = slot * bits_;
  return static_cast<std::uint8_t>(key[bit / 64] >> (bit % 64) & ((std::uint64_t{1} << bits_) - 1));
}

void RegionSweep::set_region(Key& key, std::size_t slot, std::uint64_t region) const {
  const std::size_t bit = slot * bits_;
  key[bit / 64] &= ~(((std::uint64_t{1} << bits_) - 1) << (bit % 64));
  key[bit / 64] |= region << (bit % 64);
}

LevelCost RegionSweep::least_of(std::size_t item) const {
  std::optional<LevelCost> least;
  for (std::size_t region = 0; region < model_.regions(); ++region) {
    if (!model_.may(item, region)) continue;
    const LevelCost cost = model_.cost(item, region);
    if (!least) least = cost;
    for (std::size_t level = 0; level < cost.level.size(); ++level) {
      least->level[level] = std::min(least->level[level], cost.level[level]);
    }
  }
  return least.value_or(LevelCost{});
}

// Late in the sweep prices know less than what was spent: they are paid for room that stays empty, too.
bool RegionSweep::is_below(const State& state, const LevelCost& below) const {
  for (std::size_t level = 0; level < bounds_.size(); ++level) {
    const std::int64_t spent_anyway = state.cost.level[level] + least_of_rest_.level[level];
    const std::int64_t least = std::max(bounds_[level].bound_with(state.extra[level]), spent_anyway);
    if (least != below.level[level]) return least < below.level[level];
  }
  return false;
}

std::int64_t RegionSweep::bytes_in(std::size_t item, std::size_t region, std::uint32_t clique) const {
  std::int64_t bytes = 0;
  for (const RegionModel::Part& part : model_.parts_of(item)) {
    if (part.cliques.contains(clique)) bytes += model_.demand(part, region);
  }
  return bytes;
}

// Items in no clique never conflict.
void RegionSweep::assign_unconstrained(State& state) {
  for (std::size_t item = 0; item < model_.items(); ++item) {
    if (last_clique_[item] > 0) continue;
    for (std::size_t region = 0; region < model_.regions(); ++region) {
      if (!model_.may(item, region)) continue;
      history_.push_back({state.history, static_cast<std::uint32_t>(item), static_cast<std::uint8_t>(region)});
      state.history = static_cast<std::uint32_t>(history_.size() - 1);
      state.cost += model_.cost(item, region);
      break;
    }
  }
}

// If states have become equal, keeps the cheapest.
void RegionSweep::drop_ended(std::uint32_t clique) {
  Key kept;
  kept.fill(~std::uint64_t{0});
  bool has_ended = false;
  std::erase_if(living_, [&](const Living& one) {
    if (last_clique_[one.item] > clique) return false;
    set_region(kept, one.slot, 0);
    free_slots_.push_back(one.slot);
    has_ended = true;
    return true;
  });
  if (!has_ended) return;
  for (State& state : states_) {
    for (std::size_t word = 0; word < kept.size(); ++word) state.key[word] &= kept[word];
  }
  std::sort(states_.begin(), states_.end(), [](const State& a, const State& b) {
    if (a.key != b.key) return a.key < b.key;
    return a.cost != b.cost ? a.cost < b.cost : a.history < b.history;
  });
  const auto is_same = [](const State& a, const State& b) { return a.key == b.key; };
  states_.erase(std::unique(states_.begin(), states_.end(), is_same), states_.end());
  spent_ += static_cast<std::int64_t>(2 * states_.size());
}

// The loads of the items that live on. A state may be too full if items come back from a gap.
void RegionSweep::enter_clique(std::uint32_t clique) {
  std::vector<std::int64_t> bytes;  // of each living one in each region
  for (const Living& one : living_) {
    for (std::size_t region = 0; region < model_.regions(); ++region) {
      bytes.push_back(bytes_in(one.item, region, clique));
    }
  }
  std::erase_if(states_, [&](State& state) {
    state.load.assign(model_.regions(), 0);
    for (std::size_t at = 0; at < living_.size(); ++at) {
      const std::uint8_t region = region_in(state.key, living_[at].slot);
      state.load[region] += bytes[at * model_.regions() + region];
    }
    for (std::size_t region = 0; region < model_.regions(); ++region) {
      if (state.load[region] > model_.room(region)) return true;
    }
    return false;
  });
  spent_ += static_cast<std::int64_t>(states_.size() * (living_.size() + 1));
}

bool RegionSweep::add_item(std::size_t item, std::uint32_t clique, const std::optional<LevelCost>& below) {
  if (free_slots_.empty()) return false;
  const std::size_t slot = free_slots_.back();
  free_slots_.pop_back();
  living_.push_back({item, slot});
  least_of_rest_ -= least_of(item);
  std::vector<State> next;
  for (std::size_t region = 0; region < model_.regions(); ++region) {
    if (!model_.may(item, region)) continue;
    const std::int64_t bytes = bytes_in(item, region, clique);
    const LevelCost cost = model_.cost(item, region);
    std::vector<Int128> extra;
    for (const RegionBound& bound : bounds_) extra.push_back(bound.extra(item, region));
    for (const State& state : states_) {
      spent_ += tuning::kRegionSweepStateWork;
      if (state.load[region] > model_.room(region) - bytes) continue;
      State child = state;
      for (std::size_t level = 0; level < extra.size(); ++level) child.extra[level] += extra[level];
      child.cost += cost;
      if (below && !is_below(child, *below)) continue;
      child.load[region] += bytes;
      set_region(child.key, slot, region);
      history_.push_back({state.history, static_cast<std::uint32_t>(item), static_cast<std::uint8_t>(region)});
      child.history = static_cast<std::uint32_t>(history_.size() - 1);
      next.push_back(std::move(child));
    }
  }
  states_ = std::move(next);
  return states_.size() <= tuning::kRegionSweepMostStates && history_.size() <= tuning::kRegionSweepMostHistory;
}

void RegionSweep::trace(const State& last) {
  best_.assign(model_.items(), 0);
  for (std::uint32_t at = last.history; at != kNoHistory; at = history_[at].before) {
    best_[history_[at].item] = history_[at].region;
  }
}

bool RegionSweep::run(const std::optional<LevelCost>& below, std::int64_t work, Effort& effort) {
  best_.clear();
  history_.clear();
  living_.clear();
  free_slots_.clear();
  for (std::size_t slot = 256 / bits_; slot-- > 0;) free_slots_.push_back(slot);
  spent_ = static_cast<std::int64_t>(model_.items());
  State first{
      .key = {}, .history = kNoHistory, .cost = {}, .extra = std::vector<Int128>(bounds_.size(), 0), .load = {}};
  assign_unconstrained(first);
  states_.assign(1, first);
  least_of_rest_ = {};
  for (std::size_t item = 0; item < model_.items(); ++item) {
    if (last_clique_[item] > 0) least_of_rest_ += least_of(item);
  }
  bool is_complete = true;
  for (std::uint32_t clique = 0; clique < model_.cliques() && is_complete && !states_.empty(); ++clique) {
    drop_ended(clique);
    enter_clique(clique);
    for (std::size_t item : begin_[clique]) {
      is_complete = is_complete && spent_ < work && !effort.is_stopped() && add_item(item, clique, below);
    }
  }
  effort.spend(spent_);
  if (!is_complete) return false;
  const auto cheapest = std::min_element(states_.begin(), states_.end(), [](const State& a, const State& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.history < b.history;
  });
  if (cheapest != states_.end() && (!below || cheapest->cost < *below)) trace(*cheapest);
  return true;
}

}  // namespace lowtide::allocate_internal
