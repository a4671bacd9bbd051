// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "lowtide/allocate/problem/id_lists.h"
#include "lowtide/allocate/regions/region_choice.h"
#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {
namespace {

using GroupsByClique = IdLists<CliqueId, GroupId>;
using IsPossible = std::function<bool(std::span<const GroupId> moved)>;

// A group with two demands in one clique is listed twice there.
GroupsByClique groups_by_clique(const RegionModel& model) {
  return GroupsByClique(model.clique_count(), [&](const auto& visit) {
    for (GroupId group : model.groups()) {
      for (const RegionModel::Demand& demand : model.demands_of(group)) {
        for (CliqueId clique : cliques_in(demand.cliques)) visit(clique, group);
      }
    }
  });
}

class Moves {
 public:
  Moves(const RegionModel& model, RegionChoice& choice, Effort& effort, const IsPossible& is_possible)
      : model_(model), choice_(choice), effort_(effort), is_possible_(is_possible), groups_(groups_by_clique(model)) {}

  bool run() {
    bool has_changed = false;
    for (bool again = true; again && !effort_.exhausted();) {
      again = false;
      for (GroupId group : by_loss()) {
        if (effort_.exhausted()) break;
        again = try_group(group) || again;
      }
      has_changed = has_changed || again;
    }
    return has_changed;
  }

 private:
  struct Moved {
    GroupId group;
    std::optional<RegionId> before;
  };

  // The groups that a cheaper region would allow, in descending order of what they lose.
  std::vector<GroupId> by_loss() {
    effort_.spend(static_cast<std::int64_t>(model_.group_count()));
    std::vector<std::pair<LevelCost, GroupId>> losses;
    for (GroupId group : model_.groups()) {
      const std::optional<RegionId> now = choice_.region_of(group);
      LevelCost loss;
      if (!now) {
        loss.level.fill(std::numeric_limits<std::int64_t>::max());
      } else if (!model_.allowed(group).empty()) {
        loss = model_.cost(group, *now);
        loss -= model_.cost(group, model_.allowed(group).first());
      }
      if (loss > LevelCost{}) losses.emplace_back(loss, group);
    }
    std::sort(losses.begin(), losses.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::vector<GroupId> groups;
    groups.reserve(losses.size());
    for (const auto& [loss, group] : losses) groups.push_back(group);
    return groups;
  }

  bool try_group(GroupId group) {
    for (RegionId region : model_.regions()) {
      const std::optional<RegionId> now = choice_.region_of(group);
      if (now == region || !model_.is_allowed(group, region)) continue;
      if (now && model_.cost(group, region) >= model_.cost(group, *now)) return false;
      if (move(group, region)) return true;
    }
    return false;
  }

  bool move(GroupId group, RegionId region) {
    const LevelCost cost = choice_.cost();
    const bool was_unassigned = !choice_.region_of(group);
    moved_.clear();
    shift(group, region);
    bool is_better = true;
    while (is_better) {
      const std::optional<CliqueId> clique = choice_.overloaded_clique(group);
      if (!clique) break;
      is_better = eject(group, region, *clique) && (was_unassigned || choice_.cost() < cost);
    }
    effort_.spend(static_cast<std::int64_t>(model_.demands_of(group).size()) + tuning::kRegionMoveEffort);
    if (is_better) {
      changed_.clear();
      for (const Moved& one : moved_) changed_.push_back(one.group);
      if (is_possible_(changed_)) return true;
    }
    for (; !moved_.empty(); moved_.pop_back()) {
      choice_.take(moved_.back().group);
      if (moved_.back().before) choice_.put(moved_.back().group, *moved_.back().before);
    }
    return false;
  }

  void shift(GroupId group, RegionId region) {
    moved_.push_back({group, choice_.region_of(group)});
    if (choice_.region_of(group)) choice_.take(group);
    choice_.put(group, region);
  }

  // Moves a group other than `kept` out of the clique, to the first other region that it fits into. Takes the group
  // that loses the least per byte that it frees. Returns false if there is none.
  bool eject(GroupId kept, RegionId region, CliqueId clique) {
    struct Ejected {
      double loss;
      GroupId group;
      RegionId target;
    };
    std::optional<Ejected> best;
    effort_.spend(static_cast<std::int64_t>(groups_[clique].size()));
    for (GroupId group : groups_[clique]) {
      if (group == kept || !choice_.is_in(group, region)) continue;
      const std::int64_t bytes = model_.bytes_in(group, region, clique);
      if (bytes == 0) continue;
      for (RegionId target : model_.regions()) {
        if (target == region || !choice_.fits(group, target)) continue;
        const double sign = target > region ? 1 : -1;
        const double loss = sign * static_cast<double>(model_.weighted_bytes(group)) / static_cast<double>(bytes);
        if (!best || std::tuple(loss, group) < std::tuple(best->loss, best->group)) best = {loss, group, target};
        break;
      }
    }
    if (!best) return false;
    shift(best->group, best->target);
    return true;
  }

  const RegionModel& model_;
  RegionChoice& choice_;
  Effort& effort_;
  const IsPossible& is_possible_;
  const GroupsByClique groups_;
  std::vector<Moved> moved_;
  std::vector<GroupId> changed_;
};

}  // namespace

bool improve_by_moves(const RegionModel& model, RegionChoice& choice, Effort& effort, const IsPossible& is_possible) {
  std::int64_t in_cliques = 0;
  for (GroupId group : model.groups()) {
    for (const RegionModel::Demand& demand : model.demands_of(group)) in_cliques += length(demand.cliques);
  }
  effort.spend(in_cliques);
  if (in_cliques > tuning::kRegionMostInCliques || effort.exhausted()) return false;
  return Moves(model, choice, effort, is_possible).run();
}

}  // namespace lowtide::allocate_internal
