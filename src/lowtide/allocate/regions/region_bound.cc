// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_bound.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "lowtide/allocate/tuning.h"
#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {
namespace {

// With at most 2^24 cliques, 2^4 regions and 2^62 bytes everything below stays within 127 bits.
constexpr std::int64_t kMostPrice = std::int64_t{1} << 34;
constexpr int kMostShift = 20;

int bits_of(std::int64_t number) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number))); }

}  // namespace

RegionBound::RegionBound(const RegionModel& model, std::size_t level) : model_(model), level_(level) {
  // As fine as the largest sensible price allows: a byte never pays more than it could save.
  std::int64_t most = 1;
  for (std::size_t item = 0; item < model.items(); ++item) {
    std::int64_t bytes = 0;
    for (const RegionModel::Part& part : model.parts_of(item)) bytes = std::max(bytes, part.bytes);
    if (bytes == 0) continue;
    most = std::max(most, model.weighted(item) / bytes);
  }
  shift_ = std::clamp(bits_of(kMostPrice) - bits_of(most) - 1, 0, kMostShift);
  set_joined();
  best_.prices.resize(model.regions());
  for (std::size_t region = 0; region < model.regions(); ++region) {
    if (model.is_bounded(region)) best_.prices[region].assign(model.cliques(), 0);
  }
  best_.sums = sums_of(best_.prices);
  best_.value = choose(best_.prices, best_.sums).value;
}

// For each clique, how far items reach that begin before it, and that end behind it.
void RegionBound::set_joined() {
  for (std::uint32_t clique = 0; clique < model_.cliques(); ++clique) joined_.push_back({clique, clique + 1});
  for (std::size_t item = 0; item < model_.items(); ++item) {
    const std::span<const RegionModel::Part> parts = model_.parts_of(item);
    if (parts.empty()) continue;
    RegionModel::CliqueSpan hull = parts.front().cliques;
    for (const RegionModel::Part& part : parts) {
      hull = {std::min(hull.begin, part.cliques.begin), std::max(hull.end, part.cliques.end)};
    }
    joined_[hull.begin].end = std::max(joined_[hull.begin].end, hull.end);
    joined_[hull.end - 1].begin = std::min(joined_[hull.end - 1].begin, hull.begin);
  }
  for (std::size_t clique = 1; clique < joined_.size(); ++clique) {
    joined_[clique].end = std::max(joined_[clique].end, joined_[clique - 1].end);
  }
  for (std::size_t clique = joined_.size(); clique-- > 1;) {
    joined_[clique - 1].begin = std::min(joined_[clique - 1].begin, joined_[clique].begin);
  }
}

std::int64_t RegionBound::to_cost(Int128 value) const {
  if (value <= 0) return 0;
  const Int128 cost = (value + ((Int128{1} << shift_) - 1)) >> shift_;
  return static_cast<std::int64_t>(std::min<Int128>(cost, std::numeric_limits<std::int64_t>::max()));
}

std::int64_t RegionBound::round_work() const {
  return static_cast<std::int64_t>((model_.parts() + model_.items() + 2 * model_.cliques()) * model_.regions()) + 1;
}

RegionBound::Prices RegionBound::sums_of(const Prices& prices) const {
  Prices sums(prices.size());
  for (std::size_t region = 0; region < prices.size(); ++region) {
    if (!model_.is_bounded(region)) continue;
    sums[region].assign(1, 0);
    std::partial_sum(prices[region].begin(), prices[region].end(), std::back_inserter(sums[region]));
  }
  return sums;
}

Int128 RegionBound::value_of(std::size_t item, std::size_t region, const Prices& sums) const {
  Int128 value = model_.cost_at(level_, item, region);
  value <<= shift_;
  if (!model_.is_bounded(region)) return value;
  for (const RegionModel::Part& part : model_.parts_of(item)) {
    value += Int128{model_.demand(part, region)} * (sums[region][part.cliques.end] - sums[region][part.cliques.begin]);
  }
  return value;
}

RegionBound::Choice RegionBound::choose(const Prices& prices, const Prices& sums) const {
  Choice out;
  out.region.assign(model_.items(), 0);
  out.load.resize(prices.size());
  for (std::size_t region = 0; region < prices.size(); ++region) {
    if (model_.is_bounded(region)) out.load[region].assign(model_.cliques() + 1, 0);
  }
  for (std::size_t item = 0; item < model_.items(); ++item) {
    std::optional<Int128> least;
    for (std::size_t region = 0; region < model_.regions(); ++region) {
      if (!model_.may(item, region)) continue;
      const Int128 value = value_of(item, region, sums);
      if (least && *least <= value) continue;
      least = value;
      out.region[item] = static_cast<std::uint8_t>(region);
    }
    if (!least) continue;  // it fits nowhere
    out.value += *least;
    const std::size_t region = out.region[item];
    if (!model_.is_bounded(region)) continue;
    for (const RegionModel::Part& part : model_.parts_of(item)) {
      out.load[region][part.cliques.begin] += model_.demand(part, region);
      out.load[region][part.cliques.end] -= model_.demand(part, region);
    }
  }
  for (std::size_t region = 0; region < prices.size(); ++region) {
    std::vector<std::int64_t>& load = out.load[region];
    std::partial_sum(load.begin(), load.end(), load.begin());
    if (model_.is_bounded(region)) out.value -= Int128{model_.room(region)} * sums[region].back();
  }
  return out;
}

void RegionBound::offer(const Choice& choice, const Prices& prices, const Prices& sums) {
  if (choice.value <= best_.value) return;
  best_ = {choice.value, prices, sums};
}

// The fullest cliques that no item joins: a price of one does not change what is best for another.
std::vector<RegionBound::RegionClique> RegionBound::separate_cliques(const Choice& choice,
                                                                     const Prices& settled) const {
  std::vector<std::pair<std::int64_t, RegionClique>> full;
  for (std::size_t region = 0; region < choice.load.size(); ++region) {
    for (std::uint32_t at = 0; at + 1 < choice.load[region].size(); ++at) {
      const std::int64_t above = choice.load[region][at] - model_.room(region);
      if (above > 0 && settled[region][at] == 0) full.push_back({above, {region, at}});
    }
  }
  std::stable_sort(full.begin(), full.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Flags<std::uint32_t> is_joined(model_.cliques());
  std::vector<RegionClique> cliques;
  for (const auto& [above, clique] : full) {
    if (is_joined.test(clique.clique)) continue;
    cliques.push_back(clique);
    is_joined.set_range(joined_[clique.clique].begin, joined_[clique.clique].end);
  }
  std::sort(cliques.begin(), cliques.end(),
            [](const RegionClique& a, const RegionClique& b) { return a.clique < b.clique; });
  return cliques;
}

// The items of each of these cliques. No item is in two.
std::vector<std::vector<std::size_t>> RegionBound::items_of(std::span<const RegionClique> cliques) const {
  std::vector<std::vector<std::size_t>> items(cliques.size());
  for (std::size_t item = 0; item < model_.items(); ++item) {
    for (const RegionModel::Part& part : model_.parts_of(item)) {
      const auto at = std::partition_point(cliques.begin(), cliques.end(), [&](const RegionClique& clique) {
        return clique.clique < part.cliques.begin;
      });
      if (at == cliques.end() || at->clique >= part.cliques.end) continue;
      std::vector<std::size_t>& own = items[static_cast<std::size_t>(at - cliques.begin())];
      if (own.empty() || own.back() != item) own.push_back(item);
    }
  }
  return items;
}

// The value is concave in one price, and bends where an item changes its mind: the best price is the one at which those
// who stay just fit.
std::int64_t RegionBound::best_price(const Prices& prices, const Prices& sums, RegionClique clique,
                                     std::span<const std::size_t> items) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> leaving;  // price from which on it is elsewhere, bytes
  std::int64_t load = 0;
  for (std::size_t item : items) {
    if (!model_.may(item, clique.region)) continue;
    std::int64_t bytes = 0;
    for (const RegionModel::Part& part : model_.parts_of(item)) {
      if (part.cliques.contains(clique.clique)) bytes += model_.demand(part, clique.region);
    }
    if (bytes == 0) continue;
    const Int128 own = value_of(item, clique.region, sums) - Int128{bytes} * prices[clique.region][clique.clique];
    Int128 other = own + Int128{bytes} * kMostPrice;
    for (std::size_t region = 0; region < model_.regions(); ++region) {
      if (region != clique.region && model_.may(item, region)) other = std::min(other, value_of(item, region, sums));
    }
    if (other <= own) continue;
    leaving.emplace_back(static_cast<std::int64_t>((other - own) / bytes), bytes);
    load += bytes;
  }
  std::sort(leaving.begin(), leaving.end());
  std::int64_t price = 0;
  for (const auto& [at, bytes] : leaving) {
    if (load <= model_.room(clique.region)) break;
    price = at;
    load -= bytes;
  }
  return price;
}

// Along the overload of each clique, as far as it takes to gain `distance` if the value were linear. False: there is no
// overload that a price could change.
bool RegionBound::step(Prices& prices, const Choice& choice, Int128 distance) const {
  std::int64_t largest = 1;
  const auto for_each_row = [&](const auto& visit) {
    for (std::size_t region = 0; region < prices.size(); ++region) {
      for (std::size_t clique = 0; clique < prices[region].size(); ++clique) {
        const std::int64_t over = choice.load[region][clique] - model_.room(region);
        if (over > 0 || prices[region][clique] > 0) visit(prices[region][clique], over);
      }
    }
  };
  for_each_row([&](std::int64_t, std::int64_t over) { largest = std::max(largest, over < 0 ? -over : over); });
  const int coarse = std::max(0, bits_of(largest) - 30);
  Int128 norm = 0;
  for_each_row([&](std::int64_t, std::int64_t over) {
    const std::int64_t scaled = over / (std::int64_t{1} << coarse);
    norm += Int128{scaled} * scaled;
  });
  if (norm == 0) return false;
  // distance x over / |over|^2, with both sides of the fraction divided by 2^coarse twice.
  const Int128 numerator = distance >> coarse;
  for_each_row([&](std::int64_t& price, std::int64_t over) {
    const std::int64_t scaled = over / (std::int64_t{1} << coarse);
    const Int128 change = numerator * scaled / norm;
    price = static_cast<std::int64_t>(std::clamp<Int128>(price + change, 0, kMostPrice));
  });
  return true;
}

// An item to whom two regions cost the same may still be where it is too full: such a clique has its price, and is
// settled until one is changed that an item joins with it.
std::int64_t RegionBound::price_cliques(std::int64_t target, std::int64_t work) {
  std::int64_t spent = 0;
  Prices prices = best_.prices;
  Prices settled = prices;
  for (std::vector<std::int64_t>& cliques : settled) std::fill(cliques.begin(), cliques.end(), 0);
  for (int steps = 0; steps < tuning::kRegionMostPricings && spent < work && bound() < target; ++steps) {
    spent += 2 * round_work();
    const Prices sums = sums_of(prices);
    const Choice choice = choose(prices, sums);
    offer(choice, prices, sums);
    const std::vector<RegionClique> cliques = separate_cliques(choice, settled);
    if (cliques.empty()) break;
    const std::vector<std::vector<std::size_t>> items = items_of(cliques);
    for (std::size_t at = 0; at < cliques.size(); ++at) {
      const auto [region, clique] = cliques[at];
      const std::int64_t price = best_price(prices, sums, cliques[at], items[at]);
      if (price != prices[region][clique]) {
        for (std::vector<std::int64_t>& other : settled) {
          if (!other.empty()) std::fill(other.begin() + joined_[clique].begin, other.begin() + joined_[clique].end, 0);
        }
      }
      prices[region][clique] = price;
      settled[region][clique] = 1;
    }
  }
  return spent;
}

std::int64_t RegionBound::follow_subgradients(std::int64_t target, std::int64_t work) {
  std::int64_t spent = 0;
  Prices prices = best_.prices;
  int since_better = 0;
  int halvings = 0;
  for (int steps = 0; steps < tuning::kRegionMostSubgradientSteps && spent < work && bound() < target &&
                      halvings < tuning::kRegionMostHalvings;
       ++steps) {
    spent += round_work();
    const Prices sums = sums_of(prices);
    const Choice choice = choose(prices, sums);
    since_better = choice.value > best_.value ? 0 : since_better + 1;
    offer(choice, prices, sums);
    if (since_better > tuning::kRegionPatience) {
      ++halvings;
      since_better = 0;
      prices = best_.prices;
      continue;
    }
    const Int128 distance = ((Int128{target} << shift_) - choice.value) >> halvings;
    if (distance <= 0 || !step(prices, choice, distance)) break;
  }
  return spent;
}

std::int64_t RegionBound::raise(std::int64_t target, std::int64_t work) {
  const std::int64_t spent = price_cliques(target, work);
  return spent + follow_subgradients(target, work - spent);
}

Int128 RegionBound::extra(std::size_t item, std::size_t region) const {
  std::optional<Int128> least;
  for (std::size_t other = 0; other < model_.regions(); ++other) {
    if (!model_.may(item, other)) continue;
    const Int128 value = value_of(item, other, best_.sums);
    least = least ? std::min(*least, value) : value;
  }
  return value_of(item, region, best_.sums) - least.value_or(0);
}

double RegionBound::price(std::size_t item, std::size_t region) const {
  return static_cast<double>(value_of(item, region, best_.sums));
}

}  // namespace lowtide::allocate_internal
