// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_search.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {

RegionSearch::RegionSearch(const RegionModel& model, const IdVector<LevelId, RegionBound>& bounds, RegionPacker& packer,
                           Effort& effort, const RegionRules& rules)
    : model_(model), bounds_(bounds), packer_(packer), effort_(effort), rules_(rules) {
  order_groups(bounds);
  if (rules.interchangeable) join_interchangeable();
  nogoods_of_ = IdVector<Depth, IdVector<RegionId, std::vector<NogoodId>>>(
      model.group_count(), IdVector<RegionId, std::vector<NogoodId>>(model.region_count()));
}

// Groups whose second best region is much worse than the best one come first. The bound decides them, so they open no
// branches.
void RegionSearch::order_groups(const IdVector<LevelId, RegionBound>& bounds) {
  struct Ranked {
    std::vector<Int128> regret;
    Decision decision;
  };
  std::vector<Ranked> ranked;
  for (GroupId group : model_.groups()) {
    Decision decision{.group = group, .options = {}, .extras = IdVector<RegionId, Extras>(model_.region_count())};
    for (RegionId region : model_.regions()) {
      if (!model_.is_allowed(group, region)) continue;
      decision.options.push_back(region);
      for (const RegionBound& bound : bounds) decision.extras[region].push_back(bound.extra(group, region));
    }
    const auto extras_in = [&](RegionId region) {
      const Extras& extras = decision.extras[region];
      return std::vector<Int128>(extras.begin(), extras.end());
    };
    std::stable_sort(decision.options.begin(), decision.options.end(),
                     [&](RegionId a, RegionId b) { return extras_in(a) < extras_in(b); });
    std::vector<Int128> regret(bounds.size(), std::numeric_limits<std::int64_t>::max());
    if (decision.options.size() > 1) regret = extras_in(decision.options[1]);
    ranked.push_back({std::move(regret), std::move(decision)});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) { return a.regret > b.regret; });
  for (Ranked& one : ranked) decisions_by_depth_.push_back(std::move(one.decision));
}

void RegionSearch::join_interchangeable() {
  std::vector<Depth> depths;
  for (Depth depth : all_ids<Depth>(decisions_by_depth_.size())) depths.push_back(depth);
  // Interchangeable groups have equal keys except for the depth.
  const auto key = [&](Depth depth) {
    const GroupId group = decisions_by_depth_[depth].group;
    const std::span<const RegionModel::Demand> demands = model_.demands_of(group);
    const RegionModel::Demand first = demands.empty() ? RegionModel::Demand{} : demands.front();
    return std::tuple(model_.weighted_bytes(group), model_.allowed(group), demands.size(), first.cliques, first.bytes,
                      depth);
  };
  std::sort(depths.begin(), depths.end(), [&](Depth a, Depth b) { return key(a) < key(b); });
  for (std::size_t at = 1; at < depths.size(); ++at) {
    Decision& later = decisions_by_depth_[depths[at]];
    if (!model_.are_interchangeable(decisions_by_depth_[depths[at - 1]].group, later.group)) continue;
    later.earlier = depths[at - 1];
  }
}

void RegionSearch::reset() {
  loads_ = IdVector<RegionId, IdVector<CliqueId, std::int64_t>>(
      model_.region_count(), IdVector<CliqueId, std::int64_t>(model_.clique_count(), 0));
  region_ = IdVector<Depth, RegionId>(decisions_by_depth_.size());
  extra_ = Extras(bounds_.size(), 0);
  cost_ = LevelCost{};
  for (Decision& decision : decisions_by_depth_) decision.next_option = 0;
  std::erase_if(nogoods_, [](const Nogood& nogood) { return !nogood.is_proven; });
  for (IdVector<RegionId, std::vector<NogoodId>>& by_region : nogoods_of_) {
    for (std::vector<NogoodId>& list : by_region) list.clear();
  }
  for (NogoodId id : all_ids<NogoodId>(nogoods_.size())) {
    nogoods_[id.index()].present = 0;
    index_nogood(id);
  }
  is_exact_ = true;
}

void RegionSearch::index_nogood(NogoodId id) {
  const Nogood& nogood = nogoods_[id.index()];
  for (Depth depth : nogood.depths) nogoods_of_[depth][nogood.region].push_back(id);
}

bool RegionSearch::add_loads(Depth depth, RegionId region, int sign) {
  bool fits = true;
  for (const RegionModel::Demand& demand : model_.demands_of(decisions_by_depth_[depth].group)) {
    const std::int64_t bytes = sign * model_.bytes_in(demand, region);
    for (CliqueId clique : cliques_in(demand.cliques)) {
      loads_[region][clique] += bytes;
      if (rules_.loads && loads_[region][clique] > model_.capacity(region)) fits = false;
    }
    effort_.spend(length(demand.cliques));
  }
  return fits;
}

bool RegionSearch::count_nogoods(Depth depth, RegionId region, int sign) {
  bool is_free = true;
  for (NogoodId id : nogoods_of_[depth][region]) {
    Nogood& nogood = nogoods_[id.index()];
    nogood.present += static_cast<std::size_t>(sign);
    is_free = is_free && nogood.present < nogood.depths.size();
  }
  return is_free;
}

bool RegionSearch::is_below_best() const {
  if (!best_cost_ || !rules_.bounds) return true;
  for (LevelId level : model_.levels()) {
    const std::int64_t least = bounds_[level].bound_with(extra_[level]);
    if (least != (*best_cost_)[level]) return least < (*best_cost_)[level];
  }
  return false;
}

// An interchangeable group that was decided before is in a costlier region, so the two could swap.
bool RegionSearch::breaks_symmetry(Depth depth, RegionId region) const {
  const std::optional<Depth> earlier = decisions_by_depth_[depth].earlier;
  return earlier && region_[*earlier] > region;
}

// Returns false if no choice below this one can be better. The decision stays until it is popped.
bool RegionSearch::push(Depth depth, RegionId region) {
  const Decision& decision = decisions_by_depth_[depth];
  ++decisions_;
  effort_.spend(1 + static_cast<std::int64_t>(bounds_.size()));
  region_[depth] = region;
  cost_ += model_.cost(decision.group, region);
  for (LevelId level : model_.levels()) extra_[level] += decision.extras[region][level];
  const bool is_free = count_nogoods(depth, region, 1);
  const bool fits = add_loads(depth, region, 1);
  return is_free && fits && is_below_best();
}

void RegionSearch::pop(Depth depth) {
  const Decision& decision = decisions_by_depth_[depth];
  const RegionId region = region_[depth];
  cost_ -= model_.cost(decision.group, region);
  for (LevelId level : model_.levels()) extra_[level] -= decision.extras[region][level];
  count_nogoods(depth, region, -1);
  add_loads(depth, region, -1);
}

std::vector<GroupId> RegionSearch::groups_at(const std::vector<Depth>& depths) const {
  std::vector<GroupId> groups;
  for (Depth depth : depths) groups.push_back(decisions_by_depth_[depth].group);
  return groups;
}

// Leaves out one group after another that the proof does not need. Begins with the last decision, so that the groups
// that remain are decided early.
void RegionSearch::minimize(RegionId region, std::vector<Depth>& depths, std::int64_t pack_limit) {
  for (std::size_t at = depths.size(); at-- > 0 && depths.size() > 1;) {
    std::vector<Depth> others = depths;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
    if (packer_.pack(region, groups_at(others), pack_limit).outcome == PackingOutcome::infeasible) {
      depths = std::move(others);
    }
  }
}

// Requires: all groups of the nogood are in the region now.
void RegionSearch::store(Nogood nogood) {
  nogood.present = nogood.depths.size();
  nogoods_.push_back(std::move(nogood));
  index_nogood(NogoodId(static_cast<std::uint32_t>(nogoods_.size() - 1)));
}

// All groups have a region. If a region has no offsets, stores a nogood and returns the last depth of it, to which the
// search goes back. Otherwise returns nullopt: the choice is the new best, or it is not below the best.
std::optional<RegionSearch::Depth> RegionSearch::visit_leaf(std::int64_t pack_limit) {
  if (best_cost_ && cost_ >= *best_cost_) return std::nullopt;
  for (RegionId region : model_.regions()) {
    if (!model_.is_bounded(region)) continue;
    std::vector<Depth> depths;
    for (Depth depth : all_ids<Depth>(region_.size())) {
      if (region_[depth] == region) depths.push_back(depth);
    }
    if (depths.empty()) continue;
    const PackingOutcome outcome = packer_.pack(region, groups_at(depths), pack_limit).outcome;
    if (outcome == PackingOutcome::found) continue;
    const bool is_proven = outcome == PackingOutcome::infeasible;
    is_exact_ = is_exact_ && is_proven;
    if (rules_.minimize && is_proven && depths.size() <= tuning::kRegionMostToMinimize) {
      minimize(region, depths, pack_limit);
    }
    const Depth deepest = depths.back();
    if (rules_.nogoods) store({.region = region, .depths = std::move(depths), .is_proven = is_proven});
    return deepest;
  }
  best_cost_ = cost_;
  best_ = IdVector<GroupId, RegionId>(region_.size());
  for (Depth depth : all_ids<Depth>(region_.size())) (*best_)[decisions_by_depth_[depth].group] = region_[depth];
  return std::nullopt;
}

bool RegionSearch::run(std::int64_t work, std::int64_t pack_limit) {
  reset();
  best_.reset();
  const auto count = static_cast<std::uint32_t>(decisions_by_depth_.size());
  if (count == 0) return false;
  const std::int64_t last = effort_.spent + work;
  std::uint32_t decided = 0;  // the groups at smaller depths have a region
  while (true) {
    if (effort_.spent >= last || effort_.exhausted()) return false;
    if (decided == count) {
      const Depth back = visit_leaf(pack_limit).value_or(Depth(count - 1));
      pop(Depth(--decided));
      for (; decided > back.value(); pop(Depth(--decided))) decisions_by_depth_[Depth(decided)].next_option = 0;
    }
    const Depth depth(decided);
    Decision& decision = decisions_by_depth_[depth];
    bool is_pushed = false;
    while (!is_pushed && decision.next_option < decision.options.size()) {
      const RegionId region = decision.options[decision.next_option++];
      if (breaks_symmetry(depth, region)) continue;
      is_pushed = push(depth, region);
      if (!is_pushed) pop(depth);
    }
    if (is_pushed) {
      ++decided;
      continue;
    }
    decision.next_option = 0;
    if (decided == 0) return is_exact_;
    pop(Depth(--decided));
  }
}

}  // namespace lowtide::allocate_internal
