// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_model.h"

#include <algorithm>
#include <numeric>

#include "lowtide/allocate/groups/group_forms.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/fullest_moments.h"
#include "lowtide/allocate/problem/structure_bound.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/try.h"

namespace lowtide::allocate_internal {
namespace {

// The cliques of each buffer of a compressed problem, and how many cliques there are.
struct BufferCliques {
  IdVector<PackingId, std::vector<CliqueSpan>> spans;
  std::size_t count = 0;
  IdVector<CliqueId, std::int64_t> times;  // empty if a relation replaces time
};

BufferCliques cliques_of_time(const CompressedProblem& problem) {
  BufferCliques out{.spans = IdVector<PackingId, std::vector<CliqueSpan>>(problem.buffers.size())};
  const std::vector<Moment> fullest = fullest_moments(problem);
  const std::vector<CliqueId> first_clique = first_clique_from(fullest, problem.moments());
  out.count = fullest.size();
  for (Moment moment : fullest) out.times.push_back(problem.times[moment]);
  for (PackingId id : problem.participants()) {
    for (const MomentSpan& span : problem.spans_of(id)) {
      out.spans[id].push_back({first_clique[span.begin], first_clique[span.end]});
    }
  }
  return out;
}

// Returns no cliques if the cover is too large.
BufferCliques cliques_of_relation(const CompressedProblem& problem) {
  BufferCliques out{.spans = IdVector<PackingId, std::vector<CliqueSpan>>(problem.buffers.size())};
  Effort effort{.limit = tuning::kRegionCoverEffort};
  const ConflictFacts facts = facts_of_relation(problem, effort);
  if (!facts.cover) return out;
  out.count = facts.cover->cliques();
  for (CliqueId clique : all_ids<CliqueId>(out.count)) {
    for (PackingId id : facts.cover->members(clique)) {
      std::vector<CliqueSpan>& spans = out.spans[id];
      if (!spans.empty() && spans.back().end == clique) {
        spans.back().end = next(clique);
      } else {
        spans.push_back({clique, next(clique)});
      }
    }
  }
  return out;
}

}  // namespace

Result<RegionModel> RegionModel::build(const RegionProblem& problem) {
  LOWTIDE_TRY(BufferGroups groups, group_buffers(problem.packing));
  RegionModel model(problem, std::move(groups));
  model.set_facts();
  model.set_demands();
  model.set_units();
  return model;
}

// Rounds up to whole units. If that would overflow, returns `bytes`, which is above every load.
std::int64_t RegionModel::whole_units(std::int64_t bytes, std::int64_t unit) {
  return bytes > kNoLimit - unit ? bytes : aligned_up(bytes, unit);
}

LevelCost RegionModel::cost(GroupId group, RegionId region) const {
  LevelCost cost;
  std::fill_n(cost.level.begin(), region.index(), facts_[group].weighted_bytes);
  return cost;
}

RegionCost RegionModel::as_region_cost(const LevelCost& cost) const {
  return {cost.level.begin(), cost.level.begin() + static_cast<std::ptrdiff_t>(level_count())};
}

std::int64_t RegionModel::bytes_in(GroupId group, RegionId region, CliqueId clique) const {
  std::int64_t bytes = 0;
  for (const Demand& demand : demands_of(group)) {
    if (demand.cliques.contains(clique)) bytes += bytes_in(demand, region);
  }
  return bytes;
}

void RegionModel::set_facts() {
  const PackingProblem& packing = problem_->packing;
  facts_.resize(groups_.groups.size());
  for (GroupId at : groups()) {
    GroupFacts& group = facts_[at];
    group.not_forbidden = RegionSet::all(region_count());
    group.is_fixed = groups_.groups[at].fixed_base.has_value();
    for (PackingId id : members_of(at)) {
      group.alignment = std::max(group.alignment, packing.buffers[id].alignment.count());
      const std::int64_t weight = problem_->uses.empty() ? 1 : problem_->uses[id].weight;
      group.weighted_bytes += weight * packing.buffers[id].size.count();
      if (problem_->uses.empty()) continue;
      for (RegionId region : problem_->uses[id].forbidden) group.not_forbidden.remove(region);
    }
    set_allowed(at);
  }
  if (!packing.conflicts) return;
  for (const PackingPair& pair : *packing.conflicts) {
    facts_[groups_.group[pair.first]].has_pairs = true;
    facts_[groups_.group[pair.second]].has_pairs = true;
  }
}

// The lowest base of the group if every member has at least this alignment. Returns nullopt if no base suits all
// members.
std::optional<std::int64_t> RegionModel::lowest_base(GroupId group, std::int64_t alignment) const {
  const PackingProblem& packing = problem_->packing;
  const auto alignment_of = [&](PackingId id) { return std::max(alignment, packing.buffers[id].alignment.count()); };
  PackingId strictest = members_of(group).front();
  for (PackingId id : members_of(group)) {
    if (alignment_of(id) > alignment_of(strictest)) strictest = id;
  }
  const std::int64_t period = alignment_of(strictest);
  const std::int64_t residue = (period - groups_.shift[strictest] % period) % period;
  const std::int64_t base = groups_.groups[group].fixed_base.value_or(residue);
  for (PackingId id : members_of(group)) {
    if ((base + groups_.shift[id]) % alignment_of(id) != 0) return std::nullopt;
  }
  return base;
}

void RegionModel::set_allowed(GroupId at) {
  GroupFacts& group = facts_[at];
  for (RegionId region : regions()) {
    const PackingRegion& self = problem_->regions[region];
    const std::optional<std::int64_t> base = lowest_base(at, self.alignment.count());
    if (base) group.alignable.add(region);
    if (!group.not_forbidden.has(region)) continue;
    // A fixed group may only be in the first region that is not forbidden for it.
    if (group.is_fixed && region != group.not_forbidden.first()) continue;
    const bool fits = base && (!self.capacity || *base + groups_.groups[at].size <= self.capacity->count());
    if (fits) group.allowed.add(region);
  }
}

void RegionModel::set_demands() {
  PackingProblem loose = loosened(problem_->packing, groups_);
  loose.capacity.reset();
  const CompressedProblem compressed = compress(loose);
  const BufferCliques cliques =
      problem_->packing.conflicts ? cliques_of_relation(compressed) : cliques_of_time(compressed);
  clique_count_ = cliques.count;
  clique_times_ = cliques.times;
  // The buffers of the loose problem are the pieces of the first group, then those of the second one, and so on.
  std::uint32_t piece = 0;
  for (GroupId at : groups()) {
    const std::size_t pieces = groups_.groups[at].count == 1 ? 1 : pieces_of(problem_->packing, groups_, at).size();
    facts_[at].first_demand = static_cast<std::uint32_t>(demands_.size());
    for (std::size_t left = pieces; left > 0; --left, ++piece) {
      const PackingId id(piece);
      for (const CliqueSpan& span : cliques.spans[id]) demands_.push_back({span, compressed.buffers[id].size});
    }
    facts_[at].demand_count = static_cast<std::uint32_t>(demands_.size()) - facts_[at].first_demand;
  }
}

void RegionModel::set_units() {
  const bool has_groups = !problem_->packing.colocations.empty();  // pieces of a group may lie at any byte
  capacity_ = IdVector<RegionId, std::int64_t>(region_count(), kNoLimit);
  unit_ = IdVector<RegionId, std::int64_t>(region_count(), 1);
  for (RegionId region : regions()) {
    const PackingRegion& self = problem_->regions[region];
    std::int64_t unit = limits::kMaxAlignment;
    bool is_used = false;
    for (GroupId group : groups()) {
      if (!is_allowed(group, region) || facts_[group].demand_count == 0) continue;
      is_used = true;
      unit = std::min(unit, std::max(facts_[group].alignment, self.alignment.count()));
    }
    if (is_used && !has_groups) unit_[region] = unit;
    if (self.capacity) capacity_[region] = whole_units(self.capacity->count(), unit_[region]);
  }
}

bool RegionModel::are_interchangeable(GroupId a, GroupId b) const {
  const GroupFacts& first = facts_[a];
  const GroupFacts& second = facts_[b];
  const auto is_plain = [&](GroupId group) {
    return members_of(group).size() == 1 && !facts_[group].is_fixed && !facts_[group].has_pairs;
  };
  return is_plain(a) && is_plain(b) && first.demand_count > 0 && first.weighted_bytes == second.weighted_bytes &&
         first.allowed == second.allowed && first.alignment == second.alignment &&
         std::equal(demands_of(a).begin(), demands_of(a).end(), demands_of(b).begin(), demands_of(b).end(),
                    [](const Demand& x, const Demand& y) { return x.cliques == y.cliques && x.bytes == y.bytes; });
}

std::optional<RegionWitness> RegionModel::overload() const {
  std::vector<RegionSet> sets = {RegionSet::all(region_count())};
  for (GroupId group : groups()) {
    if (allowed(group).empty()) {
      RegionWitness witness;
      witness.buffers.assign(members_of(group).begin(), members_of(group).end());
      for (PackingId id : witness.buffers) witness.needed += problem_->packing.buffers[id].size;
      return witness;
    }
    sets.push_back(allowed(group));
  }
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  if (sets.size() > tuning::kRegionMostOverloadSets) {
    sets.erase(sets.begin() + tuning::kRegionMostOverloadSets, sets.end());
  }
  for (RegionSet set : sets) {
    if (std::optional<RegionWitness> witness = overload_of(set)) return witness;
  }
  return std::nullopt;
}

// Finds the clique in which the groups that only these regions permit need the most bytes. Returns nullopt if the
// regions hold these bytes.
std::optional<RegionWitness> RegionModel::overload_of(RegionSet set) const {
  RegionWitness witness;
  std::int64_t unit = limits::kMaxAlignment;
  for (RegionId region : regions()) {
    if (!set.has(region)) continue;
    if (!is_bounded(region)) return std::nullopt;
    unit = std::min(unit, unit_[region]);
    witness.regions.push_back(region);
  }
  witness.unit = Bytes(unit);
  for (RegionId region : witness.regions) {
    const std::int64_t capacity = whole_units(problem_->regions[region].capacity->count(), unit);
    if (capacity > limits::kMaxTotalBytes - witness.capacity.count()) return std::nullopt;  // no load exceeds it
    witness.capacity += Bytes(capacity);
  }
  std::vector<std::int64_t> load(clique_count_ + 1, 0);
  for (GroupId group : groups()) {
    if (!allowed(group).is_subset_of(set)) continue;
    for (const Demand& demand : demands_of(group)) {
      load[demand.cliques.begin.index()] += whole_units(demand.bytes, unit);
      load[demand.cliques.end.index()] -= whole_units(demand.bytes, unit);
    }
  }
  std::partial_sum(load.begin(), load.end(), load.begin());
  const auto most = std::max_element(load.begin(), load.end());
  if (*most <= witness.capacity.count()) return std::nullopt;
  witness.needed = Bytes(*most);
  const CliqueId clique(static_cast<std::uint32_t>(most - load.begin()));
  if (!clique_times_.empty()) witness.time = clique_times_[clique];
  for (GroupId group : groups()) {
    const std::span<const Demand> demands = demands_of(group);
    const bool takes_part = allowed(group).is_subset_of(set) &&
                            std::any_of(demands.begin(), demands.end(),
                                        [&](const Demand& demand) { return demand.cliques.contains(clique); });
    if (!takes_part) continue;
    witness.buffers.insert(witness.buffers.end(), members_of(group).begin(), members_of(group).end());
  }
  std::sort(witness.buffers.begin(), witness.buffers.end());
  return witness;
}

}  // namespace lowtide::allocate_internal
