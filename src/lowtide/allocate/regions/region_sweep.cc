// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_sweep.h"

#include <algorithm>
#include <utility>

#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {
namespace {

constexpr std::size_t kKeyBits = 256;

}  // namespace

RegionSweep::RegionSweep(const RegionModel& model, const IdVector<LevelId, RegionBound>& bounds)
    : model_(model), bounds_(bounds), end_(model.group_count()), begin_(model.clique_count()) {
  while ((std::size_t{1} << bits_) < model.region_count()) bits_ *= 2;  // a power of two, so no slot is in two words
  for (GroupId group : model.groups()) {
    std::optional<CliqueId> first;
    for (const RegionModel::Demand& demand : model.demands_of(group)) {
      first = std::min(first.value_or(demand.cliques.begin), demand.cliques.begin);
      end_[group] = std::max(end_[group].value_or(demand.cliques.end), demand.cliques.end);
    }
    if (first) begin_[*first].push_back(group);
  }
  // The heaviest group comes first, so that states that do not fit are dropped early.
  for (std::vector<GroupId>& groups : begin_) {
    std::stable_sort(groups.begin(), groups.end(),
                     [&](GroupId a, GroupId b) { return model.weighted_bytes(a) > model.weighted_bytes(b); });
  }
}

RegionId RegionSweep::region_in(const Key& key, KeySlot slot) const {
  const std::size_t bit = slot.index() * bits_;
  return RegionId(static_cast<std::uint32_t>(key[bit / 64] >> (bit % 64) & ((std::uint64_t{1} << bits_) - 1)));
}

void RegionSweep::set_region(Key& key, KeySlot slot, RegionId region) const {
  const std::size_t bit = slot.index() * bits_;
  key[bit / 64] &= ~(((std::uint64_t{1} << bits_) - 1) << (bit % 64));
  key[bit / 64] |= std::uint64_t{region.value()} << (bit % 64);
}

LevelCost RegionSweep::least_cost(GroupId group) const {
  std::optional<LevelCost> least;
  for (RegionId region : model_.regions()) {
    if (!model_.is_allowed(group, region)) continue;
    const LevelCost cost = model_.cost(group, region);
    if (!least) least = cost;
    for (LevelId level : model_.levels()) (*least)[level] = std::min((*least)[level], cost[level]);
  }
  return least.value_or(LevelCost{});
}

// Late in the sweep, the cost so far bounds better than the prices, because prices are also paid for capacity that is
// not used.
bool RegionSweep::may_end_below(const State& state, const LevelCost& below) const {
  for (LevelId level : model_.levels()) {
    const std::int64_t least =
        std::max(bounds_[level].bound_with(state.extra[level]), state.cost[level] + least_of_rest_[level]);
    if (least != below[level]) return least < below[level];
  }
  return false;
}

void RegionSweep::decide(State& state, GroupId group, RegionId region) {
  state.last_decision = history_.push_back({state.last_decision, group, region});
}

// Groups in no clique are in no conflict, so they go to the cheapest regions that allow them.
void RegionSweep::assign_unconstrained(State& state) {
  for (GroupId group : model_.groups()) {
    if (end_[group] || model_.allowed(group).empty()) continue;
    const RegionId region = model_.allowed(group).first();
    decide(state, group, region);
    state.cost += model_.cost(group, region);
  }
}

// Removes the groups that end before the clique. Of states that have become equal, keeps the cheapest.
void RegionSweep::drop_ended(CliqueId clique) {
  Key kept;
  kept.fill(~std::uint64_t{0});
  bool has_ended = false;
  std::erase_if(live_, [&](const LiveGroup& one) {
    if (end_[one.group] > clique) return false;
    set_region(kept, one.slot, RegionId(0));
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
    return a.cost != b.cost ? a.cost < b.cost : a.last_decision < b.last_decision;
  });
  const auto is_same = [](const State& a, const State& b) { return a.key == b.key; };
  states_.erase(std::unique(states_.begin(), states_.end(), is_same), states_.end());
  spent_ += static_cast<std::int64_t>(2 * states_.size());
}

// Sets the loads of the live groups. Drops states that are too full after groups have come back from a gap.
void RegionSweep::enter_clique(CliqueId clique) {
  std::vector<IdVector<RegionId, std::int64_t>> bytes;  // of each live group
  for (const LiveGroup& one : live_) {
    IdVector<RegionId, std::int64_t>& of_group = bytes.emplace_back();
    for (RegionId region : model_.regions()) of_group.push_back(model_.bytes_in(one.group, region, clique));
  }
  std::erase_if(states_, [&](State& state) {
    state.load = IdVector<RegionId, std::int64_t>(model_.region_count(), 0);
    for (std::size_t at = 0; at < live_.size(); ++at) {
      const RegionId region = region_in(state.key, live_[at].slot);
      state.load[region] += bytes[at][region];
    }
    for (RegionId region : model_.regions()) {
      if (state.load[region] > model_.capacity(region)) return true;
    }
    return false;
  });
  spent_ += static_cast<std::int64_t>(states_.size() * (live_.size() + 1));
}

bool RegionSweep::add_group(GroupId group, CliqueId clique, const std::optional<LevelCost>& below) {
  if (free_slots_.empty()) return false;
  const KeySlot slot = free_slots_.back();
  free_slots_.pop_back();
  live_.push_back({group, slot});
  least_of_rest_ -= least_cost(group);
  std::vector<State> next;
  for (RegionId region : model_.regions()) {
    if (!model_.is_allowed(group, region)) continue;
    const std::int64_t bytes = model_.bytes_in(group, region, clique);
    const LevelCost cost = model_.cost(group, region);
    IdVector<LevelId, Int128> extra;
    for (const RegionBound& bound : bounds_) extra.push_back(bound.extra(group, region));
    for (const State& state : states_) {
      spent_ += tuning::kRegionSweepStateWork;
      if (state.load[region] > model_.capacity(region) - bytes) continue;
      State child = state;
      for (LevelId level : model_.levels()) child.extra[level] += extra[level];
      child.cost += cost;
      if (below && !may_end_below(child, *below)) continue;
      child.load[region] += bytes;
      set_region(child.key, slot, region);
      decide(child, group, region);
      next.push_back(std::move(child));
    }
  }
  states_ = std::move(next);
  return states_.size() <= tuning::kRegionSweepMostStates && history_.size() <= tuning::kRegionSweepMostHistory;
}

void RegionSweep::trace(const State& last) {
  best_.emplace(model_.group_count());
  for (std::optional<DecisionId> at = last.last_decision; at; at = history_[*at].before) {
    (*best_)[history_[*at].group] = history_[*at].region;
  }
}

bool RegionSweep::run(const std::optional<LevelCost>& below, std::int64_t work, Effort& effort) {
  best_.reset();
  history_ = {};
  live_.clear();
  free_slots_.clear();
  for (std::size_t slot = kKeyBits / bits_; slot-- > 0;) {
    free_slots_.push_back(KeySlot(static_cast<std::uint32_t>(slot)));
  }
  spent_ = static_cast<std::int64_t>(model_.group_count());
  State first{.extra = IdVector<LevelId, Int128>(bounds_.size(), 0)};
  assign_unconstrained(first);
  states_.assign(1, first);
  least_of_rest_ = {};
  for (GroupId group : model_.groups()) {
    if (end_[group]) least_of_rest_ += least_cost(group);
  }
  bool is_complete = true;
  for (CliqueId clique : model_.cliques()) {
    if (!is_complete || states_.empty()) break;
    drop_ended(clique);
    enter_clique(clique);
    for (GroupId group : begin_[clique]) {
      is_complete = is_complete && spent_ < work && !effort.is_stopped() && add_group(group, clique, below);
    }
  }
  effort.spend(spent_);
  if (!is_complete) return false;
  const auto cheapest = std::min_element(states_.begin(), states_.end(), [](const State& a, const State& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.last_decision < b.last_decision;
  });
  if (cheapest != states_.end() && (!below || cheapest->cost < *below)) trace(*cheapest);
  return true;
}

}  // namespace lowtide::allocate_internal
