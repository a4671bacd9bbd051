// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_choice.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {

RegionChoice::RegionChoice(const RegionModel& model)
    : model_(&model), region_(model.items(), kNowhere), unassigned_(model.items()) {
  for (std::size_t region = 0; region < model.regions(); ++region) {
    loads_.emplace_back(std::vector<std::int64_t>(model.is_bounded(region) ? model.cliques() : 1, 0));
  }
}

void RegionChoice::add(std::size_t item, std::size_t region, int sign) {
  if (!model_->is_bounded(region)) return;
  for (const RegionModel::Part& part : model_->parts_of(item)) {
    loads_[region].add(part.cliques.begin, part.cliques.end, sign * model_->demand(part, region));
  }
}

bool RegionChoice::fits(std::size_t item, std::size_t region) {
  if (!model_->may(item, region)) return false;
  if (!model_->is_bounded(region)) return true;
  const std::span<const RegionModel::Part> parts = model_->parts_of(item);
  const std::int64_t room = model_->room(region);
  if (parts.size() == 1) {
    return loads_[region].most(parts[0].cliques.begin, parts[0].cliques.end) <= room - model_->demand(parts[0], region);
  }
  add(item, region, 1);  // parts may meet in a clique
  const bool all_fit = std::all_of(parts.begin(), parts.end(), [&](const RegionModel::Part& part) {
    return loads_[region].most(part.cliques.begin, part.cliques.end) <= room;
  });
  add(item, region, -1);
  return all_fit;
}

void RegionChoice::put(std::size_t item, std::size_t region) {
  region_[item] = static_cast<std::uint8_t>(region);
  cost_ += model_->cost(item, region);
  --unassigned_;
  add(item, region, 1);
}

void RegionChoice::take(std::size_t item) {
  const std::size_t region = region_[item];
  cost_ -= model_->cost(item, region);
  ++unassigned_;
  add(item, region, -1);
  region_[item] = kNowhere;
}

bool RegionChoice::is_overloaded(std::size_t item, std::uint32_t& clique) const {
  const std::size_t region = region_[item];
  if (!model_->is_bounded(region)) return false;
  for (const RegionModel::Part& part : model_->parts_of(item)) {
    const std::int64_t most = loads_[region].most(part.cliques.begin, part.cliques.end);
    if (most <= model_->room(region)) continue;
    clique = static_cast<std::uint32_t>(loads_[region].position_with(part.cliques.begin, part.cliques.end, most));
    return true;
  }
  return false;
}

std::string_view name_of(KeepRule rule) {
  switch (rule) {
    case KeepRule::use:
      return "greedy_by_use";
    case KeepRule::crowd_use:
      return "greedy_by_crowd_use";
    case KeepRule::price:
      return "greedy_by_price";
    case KeepRule::size:
      return "greedy_by_size";
  }
  return "";
}

namespace {

class Greedy {
 public:
  Greedy(const RegionModel& model, std::span<const RegionBound> bounds, KeepRule rule)
      : model_(model), bounds_(bounds), rule_(rule), choice_(model) {}

  RegionChoice run() && {
    std::uint32_t later = (std::uint32_t{1} << model_.regions()) - 1;
    for (std::size_t region = 0; region < model_.regions(); ++region) {
      later &= ~(std::uint32_t{1} << region);
      fill(region, later);
    }
    return std::move(choice_);
  }

 private:
  struct Candidate {
    bool has_later;
    double key;  // the larger, the sooner
    std::size_t item;
  };

  void fill(std::size_t region, std::uint32_t later) {
    std::vector<std::size_t> left;
    for (std::size_t item = 0; item < model_.items(); ++item) {
      if (choice_.region_of(item) == RegionChoice::kNowhere && model_.may(item, region)) left.push_back(item);
    }
    const std::vector<std::uint32_t> crowded = crowded_before(left, region);
    std::vector<Candidate> candidates;
    for (std::size_t item : left) {
      const bool has_later = (model_.allowed(item) & later) != 0;
      candidates.push_back({has_later, has_later ? key(item, region, later, crowded) : size_of(item), item});
    }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return std::tuple(a.has_later, -a.key, a.item) < std::tuple(b.has_later, -b.key, b.item);
    });
    for (const Candidate& candidate : candidates) {
      if (choice_.fits(candidate.item, region)) choice_.put(candidate.item, region);
    }
  }

  // How many cliques before each are too full for all that could be kept.
  std::vector<std::uint32_t> crowded_before(std::span<const std::size_t> left, std::size_t region) const {
    std::vector<std::int64_t> load(model_.cliques() + 1, 0);
    for (std::size_t item : left) {
      for (const RegionModel::Part& part : model_.parts_of(item)) {
        load[part.cliques.begin] += model_.demand(part, region);
        load[part.cliques.end] -= model_.demand(part, region);
      }
    }
    std::partial_sum(load.begin(), load.end(), load.begin());
    std::vector<std::uint32_t> before(model_.cliques() + 1, 0);
    for (std::size_t clique = 0; clique < model_.cliques(); ++clique) {
      const bool counts = rule_ != KeepRule::crowd_use || load[clique] > model_.room(region);
      before[clique + 1] = before[clique] + (counts ? 1 : 0);
    }
    return before;
  }

  double size_of(std::size_t item) const {
    double bytes = 0;
    for (const RegionModel::Part& part : model_.parts_of(item)) {
      bytes = std::max(bytes, static_cast<double>(part.bytes));
    }
    return bytes;
  }

  double key(std::size_t item, std::size_t region, std::uint32_t later, std::span<const std::uint32_t> crowded) const {
    if (rule_ == KeepRule::size) return size_of(item);
    if (rule_ == KeepRule::price) {
      const auto next = static_cast<std::size_t>(std::countr_zero(later & model_.allowed(item)));
      return bounds_[region].price(item, next) - bounds_[region].price(item, region);
    }
    const auto saved = static_cast<double>(model_.weighted(item));
    double volume = 0;
    for (const RegionModel::Part& part : model_.parts_of(item)) {
      volume += static_cast<double>(part.bytes) * (crowded[part.cliques.end] - crowded[part.cliques.begin]);
    }
    return volume == 0 ? std::numeric_limits<double>::max() : saved / volume;
  }

  const RegionModel& model_;
  std::span<const RegionBound> bounds_;
  KeepRule rule_;
  RegionChoice choice_;
};

struct ItemsByClique {
  std::vector<std::size_t> first;  // of each clique; one more at the end
  std::vector<std::uint32_t> items;

  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t clique) const {
    return {items.data() + first[clique], first[clique + 1] - first[clique]};
  }
};

// The items of each clique, by id. An item with two parts there is listed twice.
ItemsByClique items_by_clique(const RegionModel& model) {
  ItemsByClique out;
  out.first.assign(model.cliques() + 2, 0);
  const auto for_each = [&](const auto& visit) {
    for (std::size_t item = 0; item < model.items(); ++item) {
      for (const RegionModel::Part& part : model.parts_of(item)) {
        for (std::uint32_t clique = part.cliques.begin; clique < part.cliques.end; ++clique) visit(clique, item);
      }
    }
  };
  for_each([&](std::uint32_t clique, std::size_t) { ++out.first[clique + 2]; });
  std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
  out.items.resize(out.first.back());
  for_each([&](std::uint32_t clique, std::size_t item) {
    out.items[out.first[clique + 1]++] = static_cast<std::uint32_t>(item);
  });
  out.first.pop_back();
  return out;
}

class Moves {
 public:
  Moves(const RegionModel& model, RegionChoice& choice, Effort& effort,
        const std::function<bool(std::span<const std::size_t>)>& is_possible)
      : model_(model), choice_(choice), effort_(effort), is_possible_(is_possible), items_(items_by_clique(model)) {}

  bool run() {
    bool has_changed = false;
    for (bool again = true; again && !effort_.exhausted();) {
      again = false;
      for (std::size_t item : by_loss()) {
        if (effort_.exhausted()) break;
        again = try_item(item) || again;
      }
      has_changed = has_changed || again;
    }
    return has_changed;
  }

 private:
  struct Moved {
    std::size_t item;
    std::uint8_t before;
  };

  // Items that a cheaper region may hold, the largest loss first.
  std::vector<std::size_t> by_loss() {
    effort_.spend(static_cast<std::int64_t>(model_.items()));
    std::vector<std::tuple<LevelCost, std::size_t>> losses;
    for (std::size_t item = 0; item < model_.items(); ++item) {
      const std::uint8_t now = choice_.region_of(item);
      LevelCost loss;
      if (now == RegionChoice::kNowhere) {
        loss.level.fill(std::numeric_limits<std::int64_t>::max());
      } else {
        loss = model_.cost(item, now);
        for (std::size_t region = 0; region < model_.regions(); ++region) {
          if (!model_.may(item, region)) continue;
          loss -= model_.cost(item, region);
          break;
        }
      }
      if (loss > LevelCost{}) losses.emplace_back(loss, item);
    }
    std::sort(losses.begin(), losses.end(), [](const auto& a, const auto& b) {
      return std::get<0>(a) != std::get<0>(b) ? std::get<0>(a) > std::get<0>(b) : std::get<1>(a) < std::get<1>(b);
    });
    std::vector<std::size_t> items;
    items.reserve(losses.size());
    for (const auto& [loss, item] : losses) items.push_back(item);
    return items;
  }

  bool try_item(std::size_t item) {
    for (std::size_t region = 0; region < model_.regions(); ++region) {
      const std::uint8_t now = choice_.region_of(item);
      if (now == region || !model_.may(item, region)) continue;
      if (now != RegionChoice::kNowhere && model_.cost(item, region) >= model_.cost(item, now)) return false;
      if (move(item, region)) return true;
    }
    return false;
  }

  bool move(std::size_t item, std::size_t region) {
    const LevelCost cost = choice_.cost();
    const bool was_unassigned = choice_.region_of(item) == RegionChoice::kNowhere;
    moved_.clear();
    shift(item, region);
    bool is_better = true;
    std::uint32_t clique = 0;
    while (is_better && choice_.is_overloaded(item, clique)) {
      is_better = eject(item, region, clique) && (was_unassigned || choice_.cost() < cost);
    }
    effort_.spend(static_cast<std::int64_t>(model_.parts_of(item).size()) + 16);
    if (is_better) {
      changed_.clear();
      for (const Moved& one : moved_) changed_.push_back(one.item);
      if (is_possible_(changed_)) return true;
    }
    for (; !moved_.empty(); moved_.pop_back()) {
      choice_.take(moved_.back().item);
      if (moved_.back().before != RegionChoice::kNowhere) choice_.put(moved_.back().item, moved_.back().before);
    }
    return false;
  }

  void shift(std::size_t item, std::size_t region) {
    moved_.push_back({item, choice_.region_of(item)});
    if (choice_.region_of(item) != RegionChoice::kNowhere) choice_.take(item);
    choice_.put(item, region);
  }

  // Of those in the clique, moves the one that loses least for what it gives to the cheapest other region with room for
  // it.
  bool eject(std::size_t but, std::size_t region, std::uint32_t clique) {
    std::optional<std::tuple<double, std::uint32_t>> best;
    std::size_t best_target = 0;
    const std::span<const std::uint32_t> in_clique = items_.of(clique);
    effort_.spend(static_cast<std::int64_t>(in_clique.size()));
    for (std::uint32_t item : in_clique) {
      if (item == but || choice_.region_of(item) != region) continue;
      std::int64_t bytes = 0;
      for (const RegionModel::Part& part : model_.parts_of(item)) {
        if (part.cliques.contains(clique)) bytes += model_.demand(part, region);
      }
      if (bytes == 0) continue;
      for (std::size_t target = 0; target < model_.regions(); ++target) {
        if (target == region || !choice_.fits(item, target)) continue;
        const double sign = target > region ? 1 : -1;
        const double loss = sign * static_cast<double>(model_.weighted(item)) / static_cast<double>(bytes);
        if (!best || std::tuple(loss, item) < *best) {
          best = {loss, item};
          best_target = target;
        }
        break;
      }
    }
    if (!best) return false;
    shift(std::get<1>(*best), best_target);
    return true;
  }

  const RegionModel& model_;
  RegionChoice& choice_;
  Effort& effort_;
  const std::function<bool(std::span<const std::size_t>)>& is_possible_;
  const ItemsByClique items_;
  std::vector<Moved> moved_;
  std::vector<std::size_t> changed_;
};

}  // namespace

RegionChoice choose_greedily(const RegionModel& model, std::span<const RegionBound> bounds, KeepRule rule) {
  return Greedy(model, bounds, rule).run();
}

std::vector<std::size_t> promotable(const RegionModel& model, const RegionChoice& choice, std::size_t region) {
  std::vector<std::pair<double, std::size_t>> found;
  for (std::size_t item = 0; item < model.items(); ++item) {
    const std::uint8_t now = choice.region_of(item);
    if (!model.may(item, region) || now == region) continue;
    if (now != RegionChoice::kNowhere && model.cost(item, now) <= model.cost(item, region)) continue;
    double volume = 1;
    for (const RegionModel::Part& part : model.parts_of(item)) {
      volume += static_cast<double>(part.bytes) * (part.cliques.end - part.cliques.begin);
    }
    found.emplace_back(-static_cast<double>(model.weighted(item)) / volume, item);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::size_t> items;
  items.reserve(found.size());
  for (const auto& [key, item] : found) items.push_back(item);
  return items;
}

bool improve_by_moves(const RegionModel& model, RegionChoice& choice, Effort& effort,
                      const std::function<bool(std::span<const std::size_t> moved)>& is_possible) {
  std::int64_t in_cliques = 0;
  for (std::size_t item = 0; item < model.items(); ++item) {
    for (const RegionModel::Part& part : model.parts_of(item)) in_cliques += part.cliques.end - part.cliques.begin;
  }
  effort.spend(in_cliques);
  if (in_cliques > tuning::kRegionMostInCliques || effort.exhausted()) return false;
  return Moves(model, choice, effort, is_possible).run();
}

}  // namespace lowtide::allocate_internal
