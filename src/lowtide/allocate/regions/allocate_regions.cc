// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/phases.h"
#include "lowtide/allocate/regions.h"
#include "lowtide/allocate/regions/region_bound.h"
#include "lowtide/allocate/regions/region_candidates.h"
#include "lowtide/allocate/regions/region_choice.h"
#include "lowtide/allocate/regions/region_model.h"
#include "lowtide/allocate/regions/region_packer.h"
#include "lowtide/allocate/regions/region_search.h"
#include "lowtide/allocate/regions/region_sweep.h"
#include "lowtide/allocate/regions/validate_regions.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/check.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/try.h"

namespace lowtide::allocate_internal {
namespace {

using PackedRegions = IdVector<RegionId, PackedRegion>;

// A complete choice with offsets for the regions that have capacities.
struct Answer {
  IdVector<GroupId, RegionId> region;
  PackedRegions packed;  // empty for regions without a capacity
  LevelCost cost;
  std::string strategy;
};

template <typename Region>
std::vector<GroupId> groups_in(RegionId region, const IdVector<GroupId, Region>& of) {
  std::vector<GroupId> groups;
  for (GroupId group : all_ids<GroupId>(of.size())) {
    if (of[group] == region) groups.push_back(group);
  }
  return groups;
}

class RegionAllocation {
 public:
  RegionAllocation(const RegionProblem& problem, const RegionModel& model, const RegionOptions& options)
      : problem_(problem),
        model_(model),
        options_(options),
        effort_{.limit = options.effort, .stop = options.stop},
        packer_(problem, model, effort_, options.threads) {}

  Result<RegionPacking> run() {
    for (LevelId level : model_.levels()) bounds_.push_back(RegionBound(model_, level));
    witness_ = model_.overload();
    candidates_ = collect_candidates(model_, bounds_, effort_);
    if (witness_) {
      for (const RegionCandidate& candidate : candidates_) commit(candidate, first_limit());
    } else {
      run_strategies();
    }
    RegionPacking out = finish();
    if (packer_.error()) return *packer_.error();
    return out;
  }

 private:
  // One row of the table of strategies. `limit` is that of the phase, which is the effort of one packing. A strategy
  // may spend a multiple of it.
  struct StrategyRow {
    std::string_view name;
    std::string_view does;
    void (RegionAllocation::*run)(std::int64_t limit);
  };
  static const StrategyRow kStrategies[4];
  void run_strategies();
  [[nodiscard]] std::int64_t first_limit() const {
    return std::max(tuning::kRegionFirstLimit,
                    tuning::kRegionLimitPerBuffer * static_cast<std::int64_t>(problem_.packing.buffers.size()));
  }
  [[nodiscard]] RegionCost bound() const {
    RegionCost bound;
    for (const RegionBound& level : bounds_) bound.push_back(level.bound());
    return swept_ ? std::max(bound, model_.as_region_cost(*swept_)) : bound;
  }
  [[nodiscard]] bool is_optimal() const {
    return best_ && (is_searched_ || model_.as_region_cost(best_->cost) <= bound());
  }
  [[nodiscard]] bool is_over() const { return is_optimal() || is_searched_ || effort_.exhausted() || packer_.error(); }

  void commit_candidates(std::int64_t limit);
  bool commit(const RegionCandidate& candidate, std::int64_t limit);
  void move_above(RegionChoice& choice, PackedRegion& packed, RegionId region, std::int64_t limit);
  [[nodiscard]] std::vector<GroupId> groups_above(const PackedRegion& packed, RegionId region,
                                                  const RegionChoice& choice) const;
  [[nodiscard]] PackedRegion without(const PackedRegion& packed, std::span<const GroupId> leaving) const;
  void keep_attempt(const RegionCandidate& candidate, RegionChoice choice, PackedRegions packed);
  [[nodiscard]] RegionId last_resort(GroupId group) const;
  bool offer(Answer answer);
  void move_with_offsets(std::int64_t limit);
  [[nodiscard]] std::optional<PackedRegions> pack_changed(const Flags<RegionId>& has_changed,
                                                          const RegionChoice& choice, std::int64_t limit);
  void sweep(std::int64_t limit);
  void search(std::int64_t limit);
  void lower_heights(Answer& answer);
  [[nodiscard]] RegionPacking finish();

  const RegionProblem& problem_;
  const RegionModel& model_;
  const RegionOptions& options_;
  Effort effort_;
  RegionPacker packer_;
  IdVector<LevelId, RegionBound> bounds_;
  std::vector<RegionCandidate> candidates_;  // in the order of add_candidate
  std::optional<RegionWitness> witness_;
  std::optional<Answer> best_;
  std::optional<Answer> attempt_;  // while nothing fits, the one with the least excess
  Bytes attempt_excess_;
  std::optional<LevelCost> swept_;  // no choice whose loads fit costs less
  std::optional<RegionSearch> search_;
  bool is_searched_ = false;  // all possibilities were tried
  std::int64_t decisions_ = 0;
};

bool RegionAllocation::offer(Answer answer) {
  if (best_ && best_->cost <= answer.cost) return false;
  best_ = std::move(answer);
  return true;
}

// The groups with a member that ends above the capacity.
std::vector<GroupId> RegionAllocation::groups_above(const PackedRegion& packed, RegionId region,
                                                    const RegionChoice& choice) const {
  Flags<PackingId> is_above(problem_.packing.buffers.size());
  for (std::size_t at = 0; at < packed.ids.size(); ++at) {
    const Offset end = packed.offsets[at] + problem_.packing.buffers[packed.ids[at]].size;
    if (end.position() > problem_.regions[region].capacity->count()) is_above.set(packed.ids[at]);
  }
  std::vector<GroupId> above;
  for (GroupId group : groups_in(region, choice.regions())) {
    const std::span<const PackingId> members = model_.members_of(group);
    if (std::any_of(members.begin(), members.end(), [&](PackingId id) { return is_above.test(id); })) {
      above.push_back(group);
    }
  }
  return above;
}

PackedRegion RegionAllocation::without(const PackedRegion& packed, std::span<const GroupId> leaving) const {
  Flags<PackingId> leaves(problem_.packing.buffers.size());
  for (GroupId group : leaving) {
    for (PackingId id : model_.members_of(group)) leaves.set(id);
  }
  PackedRegion kept{
      .outcome = PackingOutcome::found, .ids = {}, .offsets = {}, .height = Bytes(0), .strategy = packed.strategy};
  for (std::size_t at = 0; at < packed.ids.size(); ++at) {
    const PackingId id = packed.ids[at];
    if (leaves.test(id)) continue;
    kept.ids.push_back(id);
    kept.offsets.push_back(packed.offsets[at]);
    const Offset end = packed.offsets[at] + problem_.packing.buffers[id].size;
    kept.height = std::max(kept.height, Bytes(end.position()));
  }
  return kept;
}

// Takes groups that end above the capacity out of the region. Promotable groups fill the free bytes that they leave.
// Then each group that is still outside goes to the next region that it fits into, or stays unassigned. Those with the
// most weighted bytes go first.
void RegionAllocation::move_above(RegionChoice& choice, PackedRegion& packed, RegionId region, std::int64_t limit) {
  std::vector<GroupId> leaving = groups_above(packed, region, choice);
  packed = without(packed, leaving);
  std::stable_sort(leaving.begin(), leaving.end(),
                   [&](GroupId a, GroupId b) { return model_.weighted_bytes(a) > model_.weighted_bytes(b); });
  for (GroupId group : leaving) choice.take(group);
  const std::vector<GroupId> candidates = promotable(model_, choice, region);
  for (GroupId group : packer_.fill(region, packed, groups_in(region, choice.regions()), candidates, limit)) {
    if (choice.region_of(group)) choice.take(group);
    choice.put(group, region);
  }
  for (GroupId group : leaving) {
    if (choice.is_in(group, region)) continue;
    for (RegionId target : model_.regions()) {
      if (target <= region || !choice.fits(group, target)) continue;
      choice.put(group, target);
      break;
    }
  }
}

// Finds offsets for the regions with capacities, in order of preference. Returns true if they fit and are the best so
// far.
bool RegionAllocation::commit(const RegionCandidate& candidate, std::int64_t limit) {
  RegionChoice choice = candidate.choice;
  PackedRegions packed(model_.region_count());
  for (RegionId region : model_.regions()) {
    if (!model_.is_bounded(region)) continue;
    packed[region] = packer_.pack(region, groups_in(region, choice.regions()), limit);
    if (packed[region].outcome != PackingOutcome::found) move_above(choice, packed[region], region, limit);
  }
  if (choice.unassigned() == 0) return offer({choice.complete(), std::move(packed), choice.cost(), candidate.strategy});
  if (!best_) keep_attempt(candidate, std::move(choice), std::move(packed));
  return false;
}

// The last region that is not forbidden to the group. A fixed group goes to the first one.
RegionId RegionAllocation::last_resort(GroupId group) const {
  const RegionSet not_forbidden = model_.not_forbidden(group);
  if (not_forbidden.empty()) return RegionId(0);
  RegionId last = not_forbidden.first();
  if (model_.is_fixed(group)) return last;
  for (RegionId region : model_.regions()) {
    if (not_forbidden.has(region)) last = region;
  }
  return last;
}

// Completes a choice by putting unassigned groups into a region that then ends above its capacity. Keeps the answer if
// it exceeds the capacities by fewer bytes than the attempt before.
void RegionAllocation::keep_attempt(const RegionCandidate& candidate, RegionChoice choice, PackedRegions packed) {
  Flags<RegionId> has_changed(model_.region_count());
  for (GroupId group : model_.groups()) {
    if (choice.region_of(group)) continue;
    const RegionId target = last_resort(group);
    choice.put(group, target);
    has_changed.set(target);
  }
  Bytes excess;
  for (RegionId region : model_.regions()) {
    if (!has_changed.test(region)) continue;
    packed[region] = packer_.pack_low(region, groups_in(region, choice.regions()), first_limit());
    const std::optional<Bytes> capacity = problem_.regions[region].capacity;
    if (capacity && packed[region].height > *capacity) excess += packed[region].height - *capacity;
  }
  if (attempt_ && attempt_excess_ <= excess) return;
  attempt_ = Answer{choice.complete(), std::move(packed), choice.cost(), candidate.strategy};
  attempt_excess_ = excess;
}

// New offsets for the regions that have changed. Returns nullopt if one of them has none below its capacity.
std::optional<PackedRegions> RegionAllocation::pack_changed(const Flags<RegionId>& has_changed,
                                                            const RegionChoice& choice, std::int64_t limit) {
  PackedRegions packed(model_.region_count());
  for (RegionId region : model_.regions()) {
    if (!has_changed.test(region) || !model_.is_bounded(region)) continue;
    packed[region] = packer_.pack(region, groups_in(region, choice.regions()), limit);
    if (packed[region].outcome != PackingOutcome::found) return std::nullopt;
  }
  return packed;
}

// Makes moves from the best answer, each with new offsets for the regions that it changes.
void RegionAllocation::move_with_offsets(std::int64_t limit) {
  if (!best_) return;
  RegionChoice choice(model_, best_->region);
  Answer now = *best_;
  now.strategy = "moves";
  Effort effort = effort_.share(tuning::kRegionLimitsPerPass * limit);
  const std::int64_t spent_before = effort_.spent;
  std::int64_t spent_on_packing = 0;
  const bool has_improved = improve_by_moves(model_, choice, effort, [&](std::span<const GroupId> moved) {
    Flags<RegionId> has_changed(model_.region_count());
    for (GroupId group : moved) {
      has_changed.set(*choice.region_of(group));
      has_changed.set(now.region[group]);
    }
    std::optional<PackedRegions> packed = pack_changed(has_changed, choice, limit);
    effort.spend(effort_.spent - spent_before - spent_on_packing);
    spent_on_packing = effort_.spent - spent_before;
    if (!packed) return false;
    for (RegionId region : model_.regions()) {
      if (has_changed.test(region)) now.packed[region] = std::move((*packed)[region]);
    }
    for (GroupId group : moved) now.region[group] = *choice.region_of(group);
    return true;
  });
  effort_.spend(effort.spent - spent_on_packing);
  now.cost = choice.cost();
  if (has_improved) offer(std::move(now));
}

// Runs in each phase until it has completed once. After that, it would find the same again.
void RegionAllocation::sweep(std::int64_t limit) {
  if (swept_) return;
  RegionSweep sweep(model_, bounds_);
  const std::optional<LevelCost> below = best_ ? std::optional(best_->cost) : std::nullopt;
  if (!sweep.run(below, tuning::kRegionLimitsPerPass * limit, effort_)) return;
  if (!sweep.best()) {
    swept_ = below;
    is_searched_ = !below;  // no choice fits
    return;
  }
  RegionChoice choice(model_, *sweep.best());
  swept_ = choice.cost();
  commit({choice, "sweep"}, limit);
  add_candidate(candidates_, std::move(choice), "sweep");
}

void RegionAllocation::search(std::int64_t limit) {
  const std::size_t size =
      model_.group_count() * model_.region_count() * std::max<std::size_t>(model_.level_count(), 1);
  if (size > tuning::kRegionSearchMostSize) return;
  if (!search_) search_.emplace(model_, bounds_, packer_, effort_, RegionRules{});
  if (best_) search_->set_best(best_->cost);
  const bool is_complete = search_->run(tuning::kRegionLimitsPerPass * limit, limit);
  decisions_ = search_->decisions();
  if (search_->best()) {
    const RegionCandidate found{RegionChoice(model_, *search_->best()), "search"};
    const LevelCost cost = found.choice.cost();
    commit(found, limit);
    if (!best_ || best_->cost > cost) return;  // without offsets for the result, this proves nothing
  }
  is_searched_ = is_complete;
}

// Tries the candidates that could be better than the best answer. The first phase tries all of them, whatever the
// effort.
void RegionAllocation::commit_candidates(std::int64_t limit) {
  for (const RegionCandidate& candidate : candidates_) {
    if (limit > first_limit() && is_over()) return;
    if (best_ && (candidate.choice.unassigned() > 0 || best_->cost <= candidate.choice.cost())) continue;
    commit(candidate, limit);
    if (is_optimal()) return;
  }
}

const RegionAllocation::StrategyRow RegionAllocation::kStrategies[4] = {
    {"all_preferred, greedy_by_...", "finds offsets for choices that were made by looking at loads",
     &RegionAllocation::commit_candidates},
    {"sweep", "finds the cheapest of all choices whose loads fit, and then its offsets", &RegionAllocation::sweep},
    {"moves", "moves and exchanges single groups, with new offsets for the regions that change",
     &RegionAllocation::move_with_offsets},
    {"search", "tries all choices, except those that cannot be cheaper or cannot have offsets",
     &RegionAllocation::search},
};

void RegionAllocation::run_strategies() {
  run_phases({.first = first_limit(), .most_phases = tuning::kRegionMostPhases}, [&](std::int64_t limit) {
    for (const StrategyRow& strategy : kStrategies) {
      (this->*strategy.run)(limit);
      if (is_over()) return false;
    }
    return true;
  });
}

// Heights are not part of the cost, so they come last. Regions without a capacity get their offsets here.
void RegionAllocation::lower_heights(Answer& answer) {
  for (RegionId region : model_.regions()) {
    PackedRegion low = packer_.pack_low(region, groups_in(region, answer.region), options_.effort);
    if (!model_.is_bounded(region) || low.height < answer.packed[region].height) answer.packed[region] = std::move(low);
  }
}

RegionPacking RegionAllocation::finish() {
  const bool fits = best_.has_value();
  Answer& answer = fits ? *best_ : *attempt_;
  lower_heights(answer);
  RegionPacking out;
  out.outcome = fits                       ? PackingOutcome::found
                : witness_ || is_searched_ ? PackingOutcome::infeasible
                                           : PackingOutcome::not_found;
  out.placements = IdVector<PackingId, Placement>(problem_.packing.buffers.size());
  for (RegionId region : model_.regions()) {
    const PackedRegion& packed = answer.packed[region];
    for (std::size_t at = 0; at < packed.ids.size(); ++at) {
      out.placements[packed.ids[at]] = {region, packed.offsets[at]};
    }
    out.fills.push_back({packed.height, packed.strategy});
  }
  out.cost = model_.as_region_cost(answer.cost);
  out.bound = fits && is_searched_ ? out.cost : bound();
  LOWTIDE_CHECK(!fits || out.bound <= out.cost, "no packing that fits costs less than the bound");
  out.proven_optimal = fits && out.bound == out.cost;
  out.strategy = answer.strategy;
  out.witness = witness_;
  out.is_bound_searched = is_searched_;
  out.decisions = decisions_;
  return out;
}

}  // namespace
}  // namespace lowtide::allocate_internal

namespace lowtide {

Result<RegionPacking> allocate_regions(const RegionProblem& problem, const RegionOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(allocate_internal::validate_region_problem(problem));
  LOWTIDE_TRY(const allocate_internal::RegionModel model, allocate_internal::RegionModel::build(problem));
  return allocate_internal::RegionAllocation(problem, model, options).run();
}

}  // namespace lowtide
