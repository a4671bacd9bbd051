// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_model.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "lowtide/allocate/groups/group_forms.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/named_conflicts.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/checked.h"
#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {
namespace {

std::int64_t whole_units(std::int64_t bytes, std::int64_t unit) {
  return bytes > RegionModel::kNoLimit - unit ? bytes : (bytes + unit - 1) & -unit;
}

// The moments at which something begins and the next thing to happen is an end: what lives at any other moment also
// lives at one of these.
std::vector<Moment> fullest_moments(const CompressedProblem& problem) {
  Flags<Moment> begins(problem.moments());
  Flags<Moment> ends(problem.moments());
  for (const std::vector<PackingId>* ids : {&problem.movable, &problem.fixed}) {
    for (PackingId id : *ids) {
      for (const MomentSpan& part : problem.parts_of(id)) {
        begins.set(part.begin);
        ends.set(part.end);
      }
    }
  }
  std::vector<Moment> moments;
  bool has_begun = false;
  Moment begun = 0;
  for (Moment at = 0; at < problem.moments(); ++at) {
    if (ends.test(at) && has_begun) {
      moments.push_back(begun);
      has_begun = false;
    }
    if (!begins.test(at)) continue;
    has_begun = true;
    begun = at;
  }
  return moments;
}

// The cliques of each buffer of a problem whose relation replaces time; one of its own where no cover is known.
IdVector<PackingId, std::vector<RegionModel::CliqueSpan>> cliques_of_cover(const CompressedProblem& problem,
                                                                           std::size_t& cliques) {
  IdVector<PackingId, std::vector<RegionModel::CliqueSpan>> spans(problem.buffers.size());
  Effort effort{.limit = tuning::kRegionCoverEffort};
  const NamedConflicts named = named_conflicts(problem, effort);
  cliques = 0;
  if (!named.cover) return spans;
  cliques = named.cover->cliques();
  for (std::uint32_t clique = 0; clique < cliques; ++clique) {
    for (PackingId id : named.cover->members(clique)) {
      if (!spans[id].empty() && spans[id].back().end == clique) {
        ++spans[id].back().end;
      } else {
        spans[id].push_back({clique, clique + 1});
      }
    }
  }
  return spans;
}

}  // namespace

Result<RegionModel> RegionModel::build(const RegionProblem& problem) {
  Result<BufferGroups> groups = group_buffers(problem.packing);
  if (!groups) return groups.error();
  RegionModel model(problem, *std::move(groups));
  model.set_items();
  model.set_cliques();
  model.set_units();
  return model;
}

LevelCost RegionModel::cost(std::size_t item, std::size_t region) const {
  LevelCost cost;
  std::fill_n(cost.level.begin(), region, items_[item].weighted);
  return cost;
}

RegionCost RegionModel::as_region_cost(const LevelCost& cost) const {
  return {cost.level.begin(), cost.level.begin() + static_cast<std::ptrdiff_t>(levels())};
}

void RegionModel::set_items() {
  const PackingProblem& packing = problem_->packing;
  items_.resize(groups_.groups.size());
  const std::uint32_t all = (std::uint32_t{1} << problem_->regions.size()) - 1;
  for (std::size_t at = 0; at < items_.size(); ++at) {
    Item& item = items_[at];
    item.not_forbidden = all;
    item.is_fixed = groups_.groups[at].fixed_base.has_value();
    for (PackingId id : members_of(at)) {
      item.alignment = std::max(item.alignment, packing.buffers[id].alignment.count());
      const std::int64_t weight = problem_->uses.empty() ? 1 : problem_->uses[id].weight;
      item.weighted += weight * packing.buffers[id].size.count();
      if (problem_->uses.empty()) continue;
      for (RegionId region : problem_->uses[id].forbidden) item.not_forbidden &= ~(std::uint32_t{1} << region.value());
    }
    set_allowed(at);
  }
  const auto mark = [&](const PackingPair& pair) {
    items_[groups_.group[pair.first]].has_pairs = items_[groups_.group[pair.second]].has_pairs = true;
  };
  if (packing.conflicts) std::for_each(packing.conflicts->begin(), packing.conflicts->end(), mark);
}

// The lowest base of the item if every member has at least this alignment. Returns nullopt if no base suits all.
std::optional<std::int64_t> RegionModel::lowest_base(std::size_t item, std::int64_t alignment) const {
  const PackingProblem& packing = problem_->packing;
  const BufferGroups::Group& group = groups_.groups[item];
  const auto alignment_of = [&](PackingId id) { return std::max(alignment, packing.buffers[id].alignment.count()); };
  PackingId strictest = members_of(item).front();
  for (PackingId id : members_of(item)) {
    if (alignment_of(id) > alignment_of(strictest)) strictest = id;
  }
  const std::int64_t period = alignment_of(strictest);
  const std::int64_t residue = (period - groups_.shift[strictest] % period) % period;
  const std::int64_t base = group.fixed_base.value_or(residue);
  for (PackingId id : members_of(item)) {
    if ((base + groups_.shift[id]) % alignment_of(id) != 0) return std::nullopt;
  }
  return base;
}

void RegionModel::set_allowed(std::size_t at) {
  Item& item = items_[at];
  bool has_home = false;
  for (std::size_t region = 0; region < problem_->regions.size(); ++region) {
    const PackingRegion& self = problem_->regions[RegionId(static_cast<std::uint32_t>(region))];
    const std::uint32_t bit = std::uint32_t{1} << region;
    const std::optional<std::int64_t> base = lowest_base(at, self.alignment.count());
    if (base) item.alignable |= bit;
    if ((item.not_forbidden & bit) == 0 || (item.is_fixed && has_home)) continue;
    const bool fits = base && (!self.capacity || *base + groups_.groups[at].size <= self.capacity->count());
    if (fits) item.allowed |= bit;
    has_home = true;  // a fixed item lies there or nowhere
  }
}

void RegionModel::set_cliques() {
  PackingProblem pieces = loosened(problem_->packing, groups_);
  pieces.capacity.reset();
  const CompressedProblem compressed = compress(pieces);
  const bool has_time = !problem_->packing.conflicts.has_value();
  IdVector<PackingId, std::vector<CliqueSpan>> spans;
  std::vector<std::uint32_t> cliques_before(compressed.moments() + 1, 0);
  if (has_time) {
    const std::vector<Moment> fullest = fullest_moments(compressed);
    cliques_ = fullest.size();
    for (Moment moment : fullest) {
      ++cliques_before[moment + 1];
      clique_times_.push_back(compressed.times[moment]);
    }
    std::partial_sum(cliques_before.begin(), cliques_before.end(), cliques_before.begin());
  } else {
    spans = cliques_of_cover(compressed, cliques_);
  }
  Flags<PackingId> takes_part(pieces.buffers.size());
  for (const std::vector<PackingId>* ids : {&compressed.movable, &compressed.fixed}) {
    for (PackingId id : *ids) takes_part.set(id);
  }
  std::uint32_t piece = 0;
  for (std::size_t at = 0; at < items_.size(); ++at) {
    const auto group = static_cast<std::uint32_t>(at);
    const std::size_t own = groups_.groups[at].count == 1 ? 1 : pieces_of(problem_->packing, groups_, group).size();
    items_[at].first_part = static_cast<std::uint32_t>(parts_.size());
    for (std::size_t left = own; left > 0; --left, ++piece) {
      const PackingId id(piece);
      if (!takes_part.test(id)) continue;
      const std::int64_t bytes = compressed.buffers[id].size;
      if (has_time) {
        for (const MomentSpan& part : compressed.parts_of(id)) {
          parts_.push_back({{cliques_before[part.begin], cliques_before[part.end]}, bytes});
        }
      } else {
        for (const CliqueSpan& span : spans[id]) parts_.push_back({span, bytes});
      }
    }
    items_[at].part_count = static_cast<std::uint32_t>(parts_.size()) - items_[at].first_part;
  }
}

void RegionModel::set_units() {
  const bool has_groups = !problem_->packing.together.empty();  // pieces of a group lie at any byte
  room_.assign(problem_->regions.size(), kNoLimit);
  unit_.assign(problem_->regions.size(), 1);
  for (std::size_t region = 0; region < problem_->regions.size(); ++region) {
    const PackingRegion& self = problem_->regions[RegionId(static_cast<std::uint32_t>(region))];
    std::int64_t unit = limits::kMaxAlignment;
    bool is_used = false;
    for (std::size_t item = 0; item < items(); ++item) {
      if (!may(item, region) || items_[item].part_count == 0) continue;
      is_used = true;
      unit = std::min(unit, std::max(items_[item].alignment, self.alignment.count()));
    }
    if (is_used && !has_groups) unit_[region] = unit;
    if (self.capacity) room_[region] = whole_units(self.capacity->count(), unit_[region]);
  }
}

bool RegionModel::are_interchangeable(std::size_t a, std::size_t b) const {
  const Item& first = items_[a];
  const Item& second = items_[b];
  const auto is_plain = [&](std::size_t item) {
    return members_of(item).size() == 1 && !items_[item].is_fixed && !items_[item].has_pairs;
  };
  return is_plain(a) && is_plain(b) && first.part_count > 0 && first.weighted == second.weighted &&
         first.allowed == second.allowed && first.alignment == second.alignment &&
         std::equal(parts_of(a).begin(), parts_of(a).end(), parts_of(b).begin(), parts_of(b).end(),
                    [](const Part& x, const Part& y) { return x.cliques == y.cliques && x.bytes == y.bytes; });
}

std::optional<RegionWitness> RegionModel::overload() const {
  std::vector<std::uint32_t> sets = {(std::uint32_t{1} << regions()) - 1};
  for (std::size_t item = 0; item < items(); ++item) {
    if (items_[item].allowed == 0) {
      RegionWitness witness;
      witness.buffers.assign(members_of(item).begin(), members_of(item).end());
      for (PackingId id : witness.buffers) witness.needed += problem_->packing.buffers[id].size;
      return witness;
    }
    sets.push_back(items_[item].allowed);
  }
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  if (sets.size() > tuning::kRegionMostOverloadSets)
    sets.erase(sets.begin() + tuning::kRegionMostOverloadSets, sets.end());
  for (std::uint32_t set : sets) {
    if (std::optional<RegionWitness> witness = overload_of(set)) return witness;
  }
  return std::nullopt;
}

// Of those that fit only in `set`, in each clique: bytes against what the set holds.
std::optional<RegionWitness> RegionModel::overload_of(std::uint32_t set) const {
  std::int64_t unit = limits::kMaxAlignment;
  for (std::size_t region = 0; region < regions(); ++region) {
    if (((set >> region) & 1U) == 0) continue;
    if (!is_bounded(region)) return std::nullopt;
    unit = std::min(unit, unit_[region]);
  }
  RegionWitness witness{.unit = Bytes(unit)};
  for (RegionId region : all_ids<RegionId>(regions())) {
    if (((set >> region.value()) & 1U) == 0) continue;
    witness.regions.push_back(region);
    const std::int64_t capacity = whole_units(problem_->regions[region].capacity->count(), unit);
    if (capacity > limits::kMaxTotalBytes - witness.room.count()) return std::nullopt;  // all fits in there
    witness.room += Bytes(capacity);
  }
  std::vector<std::int64_t> change(cliques_ + 1, 0);
  for (std::size_t item = 0; item < items(); ++item) {
    if ((items_[item].allowed & ~set) != 0) continue;
    for (const Part& part : parts_of(item)) {
      change[part.cliques.begin] += whole_units(part.bytes, unit);
      change[part.cliques.end] -= whole_units(part.bytes, unit);
    }
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  const auto most = std::max_element(change.begin(), change.end());
  if (*most <= witness.room.count()) return std::nullopt;
  witness.needed = Bytes(*most);
  const auto clique = static_cast<std::uint32_t>(most - change.begin());
  if (!clique_times_.empty()) witness.time = clique_times_[clique];
  for (std::size_t item = 0; item < items(); ++item) {
    const std::span<const Part> parts = parts_of(item);
    if ((items_[item].allowed & ~set) != 0) continue;
    if (std::none_of(parts.begin(), parts.end(), [&](const Part& part) { return part.cliques.contains(clique); }))
      continue;
    witness.buffers.insert(witness.buffers.end(), members_of(item).begin(), members_of(item).end());
  }
  std::sort(witness.buffers.begin(), witness.buffers.end());
  return witness;
}

}  // namespace lowtide::allocate_internal
