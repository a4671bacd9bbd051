// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {
RegionSearch::RegionSearch(const RegionModel& model, std::span<const RegionBound> bounds, RegionPacker& packer,
                           Effort& effort, const RegionRules& rules)
    : model_(model), bounds_(bounds), packer_(packer), effort_(effort), rules_(rules) {
  order_items(bounds);
  if (rules.interchangeable) join_interchangeable();
  refuted_of_.resize(levels_.size() * model.regions());
}

// Those first for whom the second best region is far worse than the best: the bound decides for them, so they open no
// branches.
void RegionSearch::order_items(std::span<const RegionBound> bounds) {
  std::vector<std::pair<std::vector<Int128>, std::size_t>> regrets;
  levels_.resize(model_.items());
  for (std::size_t item = 0; item < model_.items(); ++item) {
    Level& level = levels_[item];
    level.item = item;
    level.extras.assign(model_.regions() * bounds.size(), 0);
    const auto extra_of = [&](std::uint8_t region) {
      const auto begin = level.extras.begin() + static_cast<std::ptrdiff_t>(region * bounds.size());
      return std::vector<Int128>(begin, begin + static_cast<std::ptrdiff_t>(bounds.size()));
    };
    for (std::size_t region = 0; region < model_.regions(); ++region) {
      if (!model_.may(item, region)) continue;
      level.options.push_back(static_cast<std::uint8_t>(region));
      for (std::size_t at = 0; at < bounds.size(); ++at) {
        level.extras[region * bounds.size() + at] = bounds[at].extra(item, region);
      }
    }
    std::stable_sort(level.options.begin(), level.options.end(),
                     [&](std::uint8_t a, std::uint8_t b) { return extra_of(a) < extra_of(b); });
    std::vector<Int128> regret(bounds.size(), std::numeric_limits<std::int64_t>::max());
    if (level.options.size() > 1) regret = extra_of(level.options[1]);
    regrets.emplace_back(std::move(regret), item);
  }
  std::sort(regrets.begin(), regrets.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::vector<Level> ordered;
  for (const auto& [regret, item] : regrets) ordered.push_back(std::move(levels_[item]));
  levels_ = std::move(ordered);
}

void RegionSearch::join_interchangeable() {
  std::vector<std::size_t> depths(levels_.size());
  std::iota(depths.begin(), depths.end(), std::size_t{0});
  const auto looks = [&](std::size_t depth) {
    const std::size_t item = levels_[depth].item;
    const auto parts = model_.parts_of(item);
    return std::tuple(model_.weighted(item), model_.allowed(item), parts.size(),
                      parts.empty() ? 0 : parts[0].cliques.begin, parts.empty() ? 0 : parts[0].cliques.end,
                      parts.empty() ? 0 : parts[0].bytes, depth);  // depth: last
  };
  std::sort(depths.begin(), depths.end(), [&](std::size_t a, std::size_t b) { return looks(a) < looks(b); });
  for (std::size_t at = 1; at < depths.size(); ++at) {
    if (!model_.are_interchangeable(levels_[depths[at - 1]].item, levels_[depths[at]].item)) continue;
    levels_[depths[at]].earlier = depths[at - 1];
  }
}

void RegionSearch::reset() {
  loads_.assign(model_.regions(), std::vector<std::int64_t>(model_.cliques(), 0));
  region_.assign(levels_.size(), 0);
  extra_.assign(bounds_.size(), 0);
  cost_ = LevelCost{};
  for (Level& level : levels_) level.next = 0;
  std::erase_if(refuted_, [](const Refuted& set) { return !set.is_proven; });
  for (std::vector<std::size_t>& list : refuted_of_) list.clear();
  for (std::size_t at = 0; at < refuted_.size(); ++at) {
    refuted_[at].present = 0;
    index_refuted(at);
  }
  is_exact_ = true;
}

void RegionSearch::index_refuted(std::size_t at) {
  const Refuted& set = refuted_[at];
  for (std::size_t depth : set.depths) refuted_of_[depth * model_.regions() + set.region].push_back(at);
}

bool RegionSearch::add_loads(std::size_t depth, std::uint8_t region, int sign) {
  bool fits = true;
  for (const RegionModel::Part& part : model_.parts_of(levels_[depth].item)) {
    const std::int64_t bytes = sign * model_.demand(part, region);
    for (std::uint32_t clique = part.cliques.begin; clique < part.cliques.end; ++clique) {
      loads_[region][clique] += bytes;
      if (rules_.loads && loads_[region][clique] > model_.room(region)) fits = false;
    }
    effort_.spend(part.cliques.end - part.cliques.begin);
  }
  return fits;
}

bool RegionSearch::count_refuted(std::size_t depth, std::uint8_t region, int sign) {
  bool is_free = true;
  for (std::size_t at : refuted_of_[depth * model_.regions() + region]) {
    refuted_[at].present += static_cast<std::size_t>(sign);
    is_free = is_free && refuted_[at].present < refuted_[at].depths.size();
  }
  return is_free;
}

bool RegionSearch::is_below_best() const {
  if (!best_cost_ || !rules_.bounds) return true;
  for (std::size_t at = 0; at < bounds_.size(); ++at) {
    const std::int64_t least = bounds_[at].bound_with(extra_[at]);
    if (least != best_cost_->level[at]) return least < best_cost_->level[at];
  }
  return false;
}

// An interchangeable item before it lies in a costlier region: the two could change places.
bool RegionSearch::breaks_symmetry(std::size_t depth, std::uint8_t region) const {
  const std::optional<std::size_t> earlier = levels_[depth].earlier;
  return earlier && region_[*earlier] > region;
}

// Returns false if nothing below this choice can be better. The choice stands nevertheless, until it is popped.
bool RegionSearch::push(std::size_t depth, std::uint8_t region) {
  ++decisions_;
  effort_.spend(1 + static_cast<std::int64_t>(bounds_.size()));
  region_[depth] = region;
  cost_ += model_.cost(levels_[depth].item, region);
  for (std::size_t at = 0; at < bounds_.size(); ++at) {
    extra_[at] += levels_[depth].extras[region * bounds_.size() + at];
  }
  const bool is_free = count_refuted(depth, region, 1);
  const bool fits = add_loads(depth, region, 1);
  return is_free && fits && is_below_best();
}

void RegionSearch::pop(std::size_t depth) {
  const std::uint8_t region = region_[depth];
  cost_ -= model_.cost(levels_[depth].item, region);
  for (std::size_t at = 0; at < bounds_.size(); ++at) {
    extra_[at] -= levels_[depth].extras[region * bounds_.size() + at];
  }
  count_refuted(depth, region, -1);
  add_loads(depth, region, -1);
}

// Remembers that these do not fit `region`; returns the deepest of them.
std::size_t RegionSearch::refute(std::uint8_t region, std::vector<std::size_t> depths, bool is_proven,
                                 std::int64_t pack_limit) {
  if (rules_.shrink && is_proven && depths.size() <= tuning::kRegionMostToShrink) {
    // From the last decision on, so that the rest is decided early.
    for (std::size_t at = depths.size(); at-- > 0 && depths.size() > 1;) {
      std::vector<std::size_t> items;
      for (std::size_t other = 0; other < depths.size(); ++other) {
        if (other != at) items.push_back(levels_[depths[other]].item);
      }
      if (packer_.pack(region, items, pack_limit).outcome != PackingOutcome::infeasible) continue;
      depths.erase(depths.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  const std::size_t deepest = depths.back();
  if (!rules_.refuted) return deepest;
  refuted_.push_back({region, std::move(depths), 0, is_proven});
  refuted_.back().present = refuted_.back().depths.size();  // all are there now
  index_refuted(refuted_.size() - 1);
  return deepest;
}

// All items have a region. Returns nullopt if the choice is the new best, or not below the best. Otherwise some region
// has no offsets: returns the depth to go back to.
std::optional<std::size_t> RegionSearch::visit_leaf(std::int64_t pack_limit) {
  if (best_cost_ && cost_ >= *best_cost_) return std::nullopt;
  for (std::size_t region = 0; region < model_.regions(); ++region) {
    if (!model_.is_bounded(region)) continue;
    std::vector<std::size_t> depths;
    std::vector<std::size_t> items;
    for (std::size_t depth = 0; depth < levels_.size(); ++depth) {
      if (region_[depth] != region) continue;
      depths.push_back(depth);
      items.push_back(levels_[depth].item);
    }
    if (items.empty()) continue;
    const PackingOutcome outcome = packer_.pack(region, items, pack_limit).outcome;
    if (outcome == PackingOutcome::found) continue;
    const bool is_proven = outcome == PackingOutcome::infeasible;
    is_exact_ = is_exact_ && is_proven;
    return refute(static_cast<std::uint8_t>(region), std::move(depths), is_proven, pack_limit);
  }
  best_cost_ = cost_;
  best_.assign(levels_.size(), 0);
  for (std::size_t depth = 0; depth < levels_.size(); ++depth) best_[levels_[depth].item] = region_[depth];
  return std::nullopt;
}

bool RegionSearch::run(std::int64_t work, std::int64_t pack_limit) {
  reset();
  best_.clear();
  if (levels_.empty()) return false;
  const std::int64_t last = effort_.spent + work;
  std::size_t depth = 0;  // to be decided next
  while (true) {
    if (effort_.spent >= last || effort_.exhausted()) return false;
    if (depth == levels_.size()) {
      const std::size_t back = visit_leaf(pack_limit).value_or(depth - 1);
      pop(--depth);
      while (depth > back) {
        levels_[depth].next = 0;
        pop(--depth);
      }
    }
    Level& level = levels_[depth];
    bool is_pushed = false;
    while (!is_pushed && level.next < level.options.size()) {
      const std::uint8_t region = level.options[level.next++];
      if (breaks_symmetry(depth, region)) continue;
      is_pushed = push(depth, region);
      if (!is_pushed) pop(depth);
    }
    if (is_pushed) {
      ++depth;
      continue;
    }
    level.next = 0;
    if (depth == 0) return is_exact_;
    pop(--depth);
  }
}

}  // namespace lowtide::allocate_internal
