// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_choice.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace lowtide::allocate_internal {

RegionChoice::RegionChoice(const RegionModel& model)
    : model_(&model), region_(model.group_count()), unassigned_(model.group_count()) {
  for (RegionId region : model.regions()) {
    loads_.emplace_back(std::vector<std::int64_t>(model.is_bounded(region) ? model.clique_count() : 1, 0));
  }
}

RegionChoice::RegionChoice(const RegionModel& model, const IdVector<GroupId, RegionId>& regions) : RegionChoice(model) {
  for (GroupId group : model.groups()) put(group, regions[group]);
}

void RegionChoice::add(GroupId group, RegionId region, int sign) {
  if (!model_->is_bounded(region)) return;
  for (const RegionModel::Demand& demand : model_->demands_of(group)) {
    loads_[region.index()].add(demand.cliques.begin.index(), demand.cliques.end.index(),
                               sign * model_->bytes_in(demand, region));
  }
}

bool RegionChoice::fits(GroupId group, RegionId region) {
  if (!model_->is_allowed(group, region)) return false;
  if (!model_->is_bounded(region)) return true;
  const std::span<const RegionModel::Demand> demands = model_->demands_of(group);
  const std::int64_t capacity = model_->capacity(region);
  const auto load_at = [&](const RegionModel::Demand& demand) {
    return loads_[region.index()].most(demand.cliques.begin.index(), demand.cliques.end.index());
  };
  if (demands.size() == 1) return load_at(demands[0]) <= capacity - model_->bytes_in(demands[0], region);
  add(group, region, 1);  // two demands may be in one clique
  const bool all_fit = std::all_of(demands.begin(), demands.end(),
                                   [&](const RegionModel::Demand& demand) { return load_at(demand) <= capacity; });
  add(group, region, -1);
  return all_fit;
}

void RegionChoice::put(GroupId group, RegionId region) {
  region_[group] = region;
  cost_ += model_->cost(group, region);
  --unassigned_;
  add(group, region, 1);
}

void RegionChoice::take(GroupId group) {
  const RegionId region = *region_[group];
  cost_ -= model_->cost(group, region);
  ++unassigned_;
  add(group, region, -1);
  region_[group].reset();
}

IdVector<GroupId, RegionId> RegionChoice::complete() const {
  IdVector<GroupId, RegionId> out;
  out.reserve(region_.size());
  for (const std::optional<RegionId>& region : region_) out.push_back(region.value());
  return out;
}

std::optional<CliqueId> RegionChoice::overloaded_clique(GroupId group) const {
  const RegionId region = *region_[group];
  if (!model_->is_bounded(region)) return std::nullopt;
  const RangeMax& loads = loads_[region.index()];
  for (const RegionModel::Demand& demand : model_->demands_of(group)) {
    const std::size_t begin = demand.cliques.begin.index();
    const std::size_t end = demand.cliques.end.index();
    const std::int64_t most = loads.most(begin, end);
    if (most <= model_->capacity(region)) continue;
    return CliqueId(static_cast<std::uint32_t>(loads.position_with(begin, end, most)));
  }
  return std::nullopt;
}

std::string_view name_of(KeepRule rule) {
  switch (rule) {
    case KeepRule::use: return "greedy_by_use";
    case KeepRule::crowd_use: return "greedy_by_crowd_use";
    case KeepRule::price: return "greedy_by_price";
    case KeepRule::size: return "greedy_by_size";
  }
  return "";
}

namespace {

class Greedy {
 public:
  Greedy(const RegionModel& model, const IdVector<LevelId, RegionBound>& bounds, KeepRule rule)
      : model_(model), bounds_(bounds), rule_(rule), choice_(model) {}

  RegionChoice run() && {
    RegionSet later = RegionSet::all(model_.region_count());
    for (RegionId region : model_.regions()) {
      later.remove(region);
      fill(region, later);
    }
    return std::move(choice_);
  }

 private:
  struct Candidate {
    bool has_later;
    double key;  // a larger key comes first
    GroupId group;
  };
  using CliqueCounts = IdVector<CliqueId, std::uint32_t>;

  void fill(RegionId region, RegionSet later) {
    std::vector<GroupId> left;
    for (GroupId group : model_.groups()) {
      if (!choice_.region_of(group) && model_.is_allowed(group, region)) left.push_back(group);
    }
    const CliqueCounts counted = counted_before(left, region);
    std::vector<Candidate> candidates;
    for (GroupId group : left) {
      const RegionSet later_allowed = model_.allowed(group) & later;
      const bool has_later = !later_allowed.empty();
      const double key = has_later ? key_of(group, region, later_allowed.first(), counted) : size_of(group);
      candidates.push_back({has_later, key, group});
    }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return std::tuple(a.has_later, -a.key, a.group) < std::tuple(b.has_later, -b.key, b.group);
    });
    for (const Candidate& candidate : candidates) {
      if (choice_.fits(candidate.group, region)) choice_.put(candidate.group, region);
    }
  }

  // For each clique, the number of cliques before it that the rule counts. With crowd_use, these are the cliques in
  // which the groups that are left do not all fit.
  [[nodiscard]] CliqueCounts counted_before(std::span<const GroupId> left, RegionId region) const {
    IdVector<CliqueId, std::int64_t> load(model_.clique_count() + 1, 0);
    for (GroupId group : left) {
      for (const RegionModel::Demand& demand : model_.demands_of(group)) {
        load[demand.cliques.begin] += model_.bytes_in(demand, region);
        load[demand.cliques.end] -= model_.bytes_in(demand, region);
      }
    }
    std::partial_sum(load.begin(), load.end(), load.begin());
    CliqueCounts before(model_.clique_count() + 1, 0);
    for (CliqueId clique : model_.cliques()) {
      const bool counts = rule_ != KeepRule::crowd_use || load[clique] > model_.capacity(region);
      before[next(clique)] = before[clique] + (counts ? 1 : 0);
    }
    return before;
  }

  [[nodiscard]] double size_of(GroupId group) const {
    double bytes = 0;
    for (const RegionModel::Demand& demand : model_.demands_of(group)) {
      bytes = std::max(bytes, static_cast<double>(demand.bytes));
    }
    return bytes;
  }

  [[nodiscard]] double key_of(GroupId group, RegionId region, RegionId next, const CliqueCounts& counted) const {
    if (rule_ == KeepRule::size) return size_of(group);
    if (rule_ == KeepRule::price) {
      const RegionBound& bound = bounds_[LevelId(region.value())];
      return bound.priced_cost(group, next) - bound.priced_cost(group, region);
    }
    const auto saved = static_cast<double>(model_.weighted_bytes(group));
    double volume = 0;
    for (const RegionModel::Demand& demand : model_.demands_of(group)) {
      volume += static_cast<double>(demand.bytes) * (counted[demand.cliques.end] - counted[demand.cliques.begin]);
    }
    return volume == 0 ? std::numeric_limits<double>::max() : saved / volume;
  }

  const RegionModel& model_;
  const IdVector<LevelId, RegionBound>& bounds_;
  KeepRule rule_;
  RegionChoice choice_;
};

}  // namespace

RegionChoice choose_greedily(const RegionModel& model, const IdVector<LevelId, RegionBound>& bounds, KeepRule rule) {
  return Greedy(model, bounds, rule).run();
}

std::vector<GroupId> promotable(const RegionModel& model, const RegionChoice& choice, RegionId region) {
  std::vector<std::pair<double, GroupId>> found;
  for (GroupId group : model.groups()) {
    const std::optional<RegionId> now = choice.region_of(group);
    if (!model.is_allowed(group, region) || now == region) continue;
    if (now && model.cost(group, *now) <= model.cost(group, region)) continue;
    double volume = 1;
    for (const RegionModel::Demand& demand : model.demands_of(group)) {
      volume += static_cast<double>(demand.bytes) * length(demand.cliques);
    }
    found.emplace_back(-static_cast<double>(model.weighted_bytes(group)) / volume, group);
  }
  std::sort(found.begin(), found.end());
  std::vector<GroupId> groups;
  groups.reserve(found.size());
  for (const auto& [key, group] : found) groups.push_back(group);
  return groups;
}

}  // namespace lowtide::allocate_internal
