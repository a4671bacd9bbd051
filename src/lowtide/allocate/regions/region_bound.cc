// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_bound.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {
namespace {

// With at most 2^24 cliques, 2^4 regions and 2^62 bytes, all sums and products below stay within 127 bits.
constexpr std::int64_t kMostPrice = std::int64_t{1} << 34;
constexpr int kMostShift = 20;
constexpr int kStepBits = 30;  // of an overload in a subgradient step

int bits_of(std::int64_t number) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number))); }

}  // namespace

RegionBound::RegionBound(const RegionModel& model, LevelId level) : model_(model), level_(level) {
  // A byte never pays more than it could save. The fixed point is as fine as this highest price allows.
  std::int64_t most = 1;
  for (GroupId group : model.groups()) {
    std::int64_t bytes = 0;
    for (const RegionModel::Demand& demand : model.demands_of(group)) bytes = std::max(bytes, demand.bytes);
    if (bytes > 0) most = std::max(most, model.weighted_bytes(group) / bytes);
  }
  shift_ = std::clamp(bits_of(kMostPrice) - bits_of(most) - 1, 0, kMostShift);
  set_joined();
  best_.prices = zeros(model.clique_count());
  best_.sums = sums_of(best_.prices);
  best_.value = choose(best_.sums).value;
}

RegionBound::Prices RegionBound::zeros(std::size_t count) const {
  Prices out(model_.region_count());
  for (RegionId region : model_.regions()) {
    if (model_.is_bounded(region)) out[region] = IdVector<CliqueId, std::int64_t>(count, 0);
  }
  return out;
}

// For each clique, finds the last clique of the groups that begin at or before it, and the first clique of those that
// end at or after it.
void RegionBound::set_joined() {
  for (CliqueId clique : model_.cliques()) joined_.push_back({clique, next(clique)});
  for (GroupId group : model_.groups()) {
    const std::span<const RegionModel::Demand> demands = model_.demands_of(group);
    if (demands.empty()) continue;
    CliqueSpan reach = demands.front().cliques;
    for (const RegionModel::Demand& demand : demands) {
      reach = {std::min(reach.begin, demand.cliques.begin), std::max(reach.end, demand.cliques.end)};
    }
    joined_[reach.begin].end = std::max(joined_[reach.begin].end, reach.end);
    joined_[previous(reach.end)].begin = std::min(joined_[previous(reach.end)].begin, reach.begin);
  }
  if (joined_.empty()) return;
  const CliqueId end(static_cast<std::uint32_t>(joined_.size()));
  for (CliqueId clique : cliques_in({CliqueId(1), end})) {
    joined_[clique].end = std::max(joined_[clique].end, joined_[previous(clique)].end);
  }
  for (CliqueId clique = previous(end); clique > CliqueId(0); clique = previous(clique)) {
    joined_[previous(clique)].begin = std::min(joined_[previous(clique)].begin, joined_[clique].begin);
  }
}

std::int64_t RegionBound::to_cost(Int128 value) const {
  if (value <= 0) return 0;
  const Int128 cost = (value + ((Int128{1} << shift_) - 1)) >> shift_;
  return static_cast<std::int64_t>(std::min<Int128>(cost, std::numeric_limits<std::int64_t>::max()));
}

std::int64_t RegionBound::round_work() const {
  const std::size_t per_region = model_.demand_count() + model_.group_count() + 2 * model_.clique_count();
  return static_cast<std::int64_t>(per_region * model_.region_count()) + 1;
}

RegionBound::Prices RegionBound::sums_of(const Prices& prices) const {
  Prices sums = zeros(model_.clique_count() + 1);
  for (RegionId region : model_.regions()) {
    if (!model_.is_bounded(region)) continue;
    std::partial_sum(prices[region].begin(), prices[region].end(), sums[region].begin() + 1);
  }
  return sums;
}

Int128 RegionBound::value_of(GroupId group, RegionId region, const Prices& sums) const {
  Int128 value = model_.cost_at(level_, group, region);
  value <<= shift_;
  if (!model_.is_bounded(region)) return value;
  for (const RegionModel::Demand& demand : model_.demands_of(group)) {
    value += Int128{model_.bytes_in(demand, region)} *
             (sums[region][demand.cliques.end] - sums[region][demand.cliques.begin]);
  }
  return value;
}

RegionBound::Choice RegionBound::choose(const Prices& sums) const {
  Choice out{.load = zeros(model_.clique_count() + 1)};
  for (GroupId group : model_.groups()) {
    std::optional<Int128> least;
    RegionId cheapest;
    for (RegionId region : model_.regions()) {
      if (!model_.is_allowed(group, region)) continue;
      const Int128 value = value_of(group, region, sums);
      if (least && *least <= value) continue;
      least = value;
      cheapest = region;
    }
    if (!least) continue;  // no region allows it
    out.value += *least;
    if (!model_.is_bounded(cheapest)) continue;
    for (const RegionModel::Demand& demand : model_.demands_of(group)) {
      out.load[cheapest][demand.cliques.begin] += model_.bytes_in(demand, cheapest);
      out.load[cheapest][demand.cliques.end] -= model_.bytes_in(demand, cheapest);
    }
  }
  const CliqueId end(static_cast<std::uint32_t>(model_.clique_count()));
  for (RegionId region : model_.regions()) {
    if (!model_.is_bounded(region)) continue;
    std::partial_sum(out.load[region].begin(), out.load[region].end(), out.load[region].begin());
    out.value -= Int128{model_.capacity(region)} * sums[region][end];
  }
  return out;
}

void RegionBound::offer(const Choice& choice, const Prices& prices, const Prices& sums) {
  if (choice.value <= best_.value) return;
  best_ = {choice.value, prices, sums};
}

// The most overloaded cliques, such that no group joins any two of them. So a price of one of them does not change the
// best price of another one.
std::vector<RegionBound::RegionClique> RegionBound::separate_cliques(
    const Choice& choice, const IdVector<RegionId, Flags<CliqueId>>& is_priced) const {
  std::vector<std::pair<std::int64_t, RegionClique>> overloaded;
  for (RegionId region : model_.regions()) {
    if (!model_.is_bounded(region)) continue;
    for (CliqueId clique : model_.cliques()) {
      const std::int64_t overload = choice.load[region][clique] - model_.capacity(region);
      if (overload > 0 && !is_priced[region].test(clique)) overloaded.push_back({overload, {region, clique}});
    }
  }
  std::stable_sort(overloaded.begin(), overloaded.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Flags<CliqueId> is_joined(model_.clique_count());
  std::vector<RegionClique> cliques;
  for (const auto& [overload, clique] : overloaded) {
    if (is_joined.test(clique.clique)) continue;
    cliques.push_back(clique);
    is_joined.set_range(joined_[clique.clique].begin, joined_[clique.clique].end);
  }
  std::sort(cliques.begin(), cliques.end(),
            [](const RegionClique& a, const RegionClique& b) { return a.clique < b.clique; });
  return cliques;
}

// The groups of each of these cliques. No group is in two of them.
std::vector<std::vector<GroupId>> RegionBound::groups_of(std::span<const RegionClique> cliques) const {
  std::vector<std::vector<GroupId>> groups(cliques.size());
  for (GroupId group : model_.groups()) {
    for (const RegionModel::Demand& demand : model_.demands_of(group)) {
      const auto at = std::partition_point(cliques.begin(), cliques.end(), [&](const RegionClique& clique) {
        return clique.clique < demand.cliques.begin;
      });
      if (at == cliques.end() || at->clique >= demand.cliques.end) continue;
      std::vector<GroupId>& own = groups[static_cast<std::size_t>(at - cliques.begin())];
      if (own.empty() || own.back() != group) own.push_back(group);
    }
  }
  return groups;
}

// The bound is concave in one price. It bends at the prices at which a group becomes cheaper in another region. At the
// best price, just enough groups leave for the others to fit.
std::int64_t RegionBound::best_price(const Prices& prices, const Prices& sums, RegionClique clique,
                                     std::span<const GroupId> groups) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> leaving;  // the price from which a group leaves, and its bytes
  std::int64_t load = 0;
  for (GroupId group : groups) {
    if (!model_.is_allowed(group, clique.region)) continue;
    const std::int64_t bytes = model_.bytes_in(group, clique.region, clique.clique);
    if (bytes == 0) continue;
    const Int128 own = value_of(group, clique.region, sums) - Int128{bytes} * prices[clique.region][clique.clique];
    Int128 other = own + Int128{bytes} * kMostPrice;
    for (RegionId region : model_.regions()) {
      if (region == clique.region || !model_.is_allowed(group, region)) continue;
      other = std::min(other, value_of(group, region, sums));
    }
    if (other <= own) continue;
    leaving.emplace_back(static_cast<std::int64_t>((other - own) / bytes), bytes);
    load += bytes;
  }
  std::sort(leaving.begin(), leaving.end());
  std::int64_t price = 0;
  for (const auto& [at, bytes] : leaving) {
    if (load <= model_.capacity(clique.region)) break;
    price = at;
    load -= bytes;
  }
  return price;
}

// Changes the prices in proportion to the overload of each clique. If the bound were linear in them, it would rise by
// `distance`. Returns false if there is no overload that a price could change.
bool RegionBound::step(Prices& prices, const Choice& choice, Int128 distance) const {
  std::int64_t largest = 1;
  const auto for_each_priced = [&](const auto& visit) {
    for (RegionId region : model_.regions()) {
      if (!model_.is_bounded(region)) continue;
      for (CliqueId clique : model_.cliques()) {
        const std::int64_t overload = choice.load[region][clique] - model_.capacity(region);
        if (overload > 0 || prices[region][clique] > 0) visit(prices[region][clique], overload);
      }
    }
  };
  for_each_priced(
      [&](std::int64_t, std::int64_t overload) { largest = std::max(largest, overload < 0 ? -overload : overload); });
  const int coarse = std::max(0, bits_of(largest) - kStepBits);
  Int128 norm = 0;
  for_each_priced([&](std::int64_t, std::int64_t overload) {
    const std::int64_t scaled = overload / (std::int64_t{1} << coarse);
    norm += Int128{scaled} * scaled;
  });
  if (norm == 0) return false;
  // distance x overload / |overload|^2, with both sides of the fraction divided by 2^coarse twice.
  const Int128 numerator = distance >> coarse;
  for_each_priced([&](std::int64_t& price, std::int64_t overload) {
    const std::int64_t scaled = overload / (std::int64_t{1} << coarse);
    const Int128 change = numerator * scaled / norm;
    price = static_cast<std::int64_t>(std::clamp<Int128>(price + change, 0, kMostPrice));
  });
  return true;
}

// If two regions cost the same for a group, it may stay in a clique that is too full although the clique has its best
// price. Such a clique is not priced again until the price of a clique that a group joins with it changes.
std::int64_t RegionBound::price_cliques(std::int64_t target, std::int64_t work) {
  std::int64_t spent = 0;
  Prices prices = best_.prices;
  IdVector<RegionId, Flags<CliqueId>> is_priced(model_.region_count(), Flags<CliqueId>(model_.clique_count()));
  for (int round = 0; round < tuning::kRegionMostPricings && spent < work && bound() < target; ++round) {
    spent += 2 * round_work();
    const Prices sums = sums_of(prices);
    const Choice choice = choose(sums);
    offer(choice, prices, sums);
    const std::vector<RegionClique> cliques = separate_cliques(choice, is_priced);
    if (cliques.empty()) break;
    const std::vector<std::vector<GroupId>> groups = groups_of(cliques);
    for (std::size_t at = 0; at < cliques.size(); ++at) {
      const auto [region, clique] = cliques[at];
      const std::int64_t price = best_price(prices, sums, cliques[at], groups[at]);
      if (price != prices[region][clique]) {
        for (Flags<CliqueId>& of_region : is_priced) {
          for (CliqueId other : cliques_in(joined_[clique])) of_region.reset(other);
        }
      }
      prices[region][clique] = price;
      is_priced[region].set(clique);
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
    const Choice choice = choose(sums);
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

Int128 RegionBound::extra(GroupId group, RegionId region) const {
  std::optional<Int128> least;
  for (RegionId other : model_.regions()) {
    if (!model_.is_allowed(group, other)) continue;
    const Int128 value = value_of(group, other, best_.sums);
    least = least ? std::min(*least, value) : value;
  }
  return value_of(group, region, best_.sums) - least.value_or(0);
}

double RegionBound::priced_cost(GroupId group, RegionId region) const {
  return static_cast<double>(value_of(group, region, best_.sums));
}

}  // namespace lowtide::allocate_internal
